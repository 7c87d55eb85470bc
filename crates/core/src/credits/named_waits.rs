//! What the crates above do with credits, and programs do not.

use std::fmt;

use super::{Acquire, Credits, Permit};
use crate::sched::context::prepare_to_block;
use crate::simulated::WaitDescription;

/// Acquires one credit like [`Credits::acquire_blocking`], for a caller that names in a panic its
/// own call, what to use instead, and what the thread waits for.
#[track_caller]
pub fn acquire_one_for(
    credits: &Credits,
    call: &str,
    instead: &str,
    what: &dyn fmt::Display,
) -> Permit {
    if let Some(permit) = credits.try_acquire(1) {
        return permit;
    }
    prepare_to_block(call, instead);
    credits.acquire(1).wait_for(Some(what))
}

/// Tells the deterministic mode what a request for credits depends on.
#[inline]
pub fn credits_owed_by(acquire: &Acquire, what: WaitDescription) {
    if let Some(promise) = &acquire.promise {
        promise.owed_by(what);
    }
}
