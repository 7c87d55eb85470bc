//! What the crates above do with promises, and programs do not.

use std::fmt;

use super::{Broken, Promise, Resolver};
use crate::simulated::{self, PolledFuture, WaitDescription};

/// Like [`Promise::wait`], for a caller with a name of its own: a panic names the call and what to
/// use instead.
#[track_caller]
pub fn wait_as<R: Send + 'static>(
    promise: Promise<R>,
    call: &str,
    instead: &str,
) -> Result<R, Broken> {
    promise.wait_as(call, instead, None)
}

/// Like [`Promise::wait`], with a description of what the thread waits for, for the reports of the
/// deterministic mode.
#[track_caller]
pub fn wait_for<R: Send + 'static>(
    promise: Promise<R>,
    what: &dyn fmt::Display,
) -> Result<R, Broken> {
    promise.wait_for(Some(what))
}

/// Tells the deterministic mode what a promise depends on.
#[inline]
pub fn owed_by<R: Send + 'static>(promise: &Promise<R>, what: WaitDescription) {
    promise.owed_by(what);
}

/// Registers with the deterministic mode a future that a thread polls and that waits for a wake-up
/// through this promise.
pub fn woken_by<R: Send + 'static>(promise: &Promise<R>, what: WaitDescription) -> PolledFuture {
    PolledFuture::in_thread(what, promise.cell())
}

/// Like [`Resolver::resolve_in_time`], with a value that is created in place. `value` must not
/// panic: the block would leak.
#[inline(always)]
pub fn resolve_in_time_with<R: Send + 'static>(
    resolver: Resolver<R>,
    value: impl FnOnce() -> R,
) -> bool {
    resolver.resolve_in_time_with(value)
}

/// Tells the deterministic mode that a request has been handled and its reply follows later.
#[inline]
pub fn is_kept_back<R: Send + 'static>(resolver: &Resolver<R>) {
    simulated::handled(resolver.0.addr());
}
