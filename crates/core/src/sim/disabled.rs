//! Deterministic mode, left out: nothing is ever simulated. The twin of `mod.rs`.

use std::time::Duration;

use crate::behaviour::task::TaskPtr;
use crate::panic::Fault;
use crate::runtime::RuntimeId;
use crate::sched::shared::Shared;

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
pub(crate) fn block_until(_: &dyn Fn() -> bool) -> bool {
    false
}

#[inline(always)]
pub(crate) fn give_way(_: &dyn Fn() -> bool) -> bool {
    false
}

pub(crate) fn block_for(_: Option<Duration>, _: &dyn Fn() -> bool) -> bool {
    unreachable!("nothing is simulated without the feature `sim`");
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

pub(crate) fn ready(_: TaskPtr, _: &'static Shared) {
    unreachable!("no simulated runtime exists without the feature `sim`");
}

pub(crate) fn spawn_outside(_: RuntimeId, _: Box<dyn FnOnce()>) {
    unreachable!("no simulated runtime exists without the feature `sim`");
}
