//! Deterministic mode, left out: nothing is ever simulated. The twin of `mod.rs`.

use std::fmt::Display;
use std::task::Poll;
use std::time::Duration;

use crate::fault::Fault;
use crate::ids::RuntimeId;
use crate::promise::{Promise, What};
use crate::sched::shared::Shared;
use crate::task::TaskPtr;

#[inline(always)]
pub(crate) fn is_active() -> bool {
    false
}

#[inline(always)]
pub(crate) fn is_inside() -> bool {
    false
}

#[inline(always)]
pub(crate) fn runs_body() -> bool {
    false
}

#[inline(always)]
pub(crate) fn point() {}

#[inline(always)]
pub(crate) fn block_until(_: &dyn Display, _: &dyn Fn() -> bool) -> bool {
    false
}

#[inline(always)]
pub(crate) fn give_way(_: &dyn Fn() -> bool) -> bool {
    false
}

pub(crate) fn block_for(_: &dyn Display, _: Option<Duration>, _: &dyn Fn() -> bool) -> bool {
    unreachable!("nothing is simulated without the feature `sim`");
}

#[inline(always)]
pub(crate) fn made_cown(_: usize) {}

#[inline(always)]
pub(crate) fn rank(cown: usize) -> usize {
    cown
}

/// What a fiber would be.
pub(crate) enum Who {
    Blocking(#[expect(dead_code, reason = "only a report would read it")] &'static str),
}

#[inline(always)]
pub(crate) fn made(_: usize) {}

#[inline(always)]
pub(crate) fn owed_by(_: usize, _: What) {}

#[inline(always)]
pub(crate) fn follows(_: usize, _: usize) {}

#[inline(always)]
pub(crate) fn handled(_: usize) {}

#[inline(always)]
pub(crate) fn polled(_: usize) {}

#[inline(always)]
pub(crate) fn awaited(_: usize, _: Option<&dyn Display>) -> impl Display {
    ""
}

#[inline(always)]
pub(crate) fn spawns() {}

/// A behaviour from its spawning to its end.
pub(crate) struct Spawned;

impl Spawned {
    #[inline(always)]
    pub(crate) fn new(_: fn() -> &'static str, _: Option<usize>) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn stands_in(&self, _: usize, _: impl Iterator<Item = usize>) {}

    #[inline(always)]
    pub(crate) fn begins(&self) {}
}

/// A future that is polled by the runtime, or by a layer above.
#[derive(Debug)]
pub struct Polled;

impl Polled {
    /// `what` names it in reports.
    #[inline(always)]
    pub fn new(_: What) -> Self {
        Self
    }

    /// That of a future that a thread polls, which waits for a promise to be woken.
    #[inline(always)]
    pub fn until_woken<R: Send + 'static>(_: &Promise<R>, _: What) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn keeping(_: What, _: usize) -> Self {
        Self
    }

    /// Polls it. What it polls in turn is what it waits for.
    #[inline(always)]
    pub fn polls<R>(&self, poll: impl FnOnce() -> Poll<R>) -> Poll<R> {
        poll()
    }
}

#[inline(always)]
pub(crate) fn now() -> Option<u64> {
    None
}

pub(crate) fn is_quiet(_: &Shared) -> bool {
    true
}

pub(crate) fn tell(_: &Fault) {}

pub(crate) fn adopt(_: &'static Shared) {}

pub(crate) fn free_id() -> Option<RuntimeId> {
    None
}

pub(crate) fn bodies_of(_: RuntimeId) -> usize {
    0
}

pub(crate) fn pump_pending(_: &'static Shared) -> usize {
    unreachable!("no simulated runtime exists without the feature `sim`");
}

pub(crate) fn pump_until(_: &'static Shared, _: Option<Duration>, _: impl FnMut() -> bool) -> bool {
    unreachable!("no simulated runtime exists without the feature `sim`");
}

pub(crate) fn pump_until_idle(
    _: &'static Shared,
    _: Option<Duration>,
    _: &[&'static Shared],
) -> bool {
    unreachable!("no simulated runtime exists without the feature `sim`");
}

pub(crate) fn take(_: &'static Shared, _: TaskPtr) {
    unreachable!("no simulated runtime exists without the feature `sim`");
}

pub(crate) fn spawn_outside(_: RuntimeId, _: Who, _: Option<usize>, _: Box<dyn FnOnce()>) {
    unreachable!("no simulated runtime exists without the feature `sim`");
}
