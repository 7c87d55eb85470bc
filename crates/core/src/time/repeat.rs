//! Timers whose next run follows when the layer above says so.

use std::time::Duration;

use super::Timer;
use super::timers::Run;
use crate::sched::runtime_handle::RuntimeHandle;

/// Calls a closure after `delay`, and again `delay` after the previous call's `Run` is dropped,
/// until the timer is cancelled. The thread that serves the timers makes the calls.
///
/// # Panics
/// Panics if the delay is zero.
#[track_caller]
pub fn repeat(
    home: RuntimeHandle,
    delay: Duration,
    run: impl Fn(Run) + Send + Sync + 'static,
) -> Timer {
    home.repeat(delay, run)
}
