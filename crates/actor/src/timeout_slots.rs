//! The timeouts that an actor has set.

use std::time::Duration;

use coact_core::internals::CatchDrop;
use coact_core::time::Timer;

/// The timeouts of an actor.
pub(crate) struct ActorTimeouts<F> {
    pub(crate) receive: TimeoutSlot<F>,
    pub(crate) idle: TimeoutSlot<F>,
}

impl<F> Default for ActorTimeouts<F> {
    fn default() -> Self {
        Self { receive: TimeoutSlot::default(), idle: TimeoutSlot::default() }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum TimeoutKind {
    Receive,
    Idle,
}

pub(crate) struct TimeoutSlot<F> {
    /// Counts how often the timeout was set or cleared, so that a late check is void.
    pub(crate) version: u64,
    pub(crate) timeout: Option<ArmedTimeout<F>>,
}

impl<F> Default for TimeoutSlot<F> {
    fn default() -> Self {
        Self { version: 0, timeout: None }
    }
}

/// A timeout that is set.
pub(crate) struct ArmedTimeout<F> {
    pub(crate) interval: Duration,
    /// Consecutive idle checks until it fires.
    pub(crate) needed: u32,
    /// Consecutive idle checks so far.
    pub(crate) idle_checks: u32,
    /// The turns at the last check.
    pub(crate) seen: Option<u32>,
    pub(crate) then: CatchDrop<F>,
    pub(crate) timer: Timer,
}

impl<F> Drop for ArmedTimeout<F> {
    fn drop(&mut self) {
        self.timer.cancel();
    }
}

impl<F> ArmedTimeout<F> {
    /// Returns whether the timeout fires.
    pub(crate) fn check(&mut self, turns: u32) -> bool {
        if self.seen.replace(turns) != Some(turns) {
            self.idle_checks = 0;
            return false;
        }
        self.idle_checks += 1;
        if self.idle_checks < self.needed {
            return false;
        }
        self.idle_checks = 0;
        true
    }
}
