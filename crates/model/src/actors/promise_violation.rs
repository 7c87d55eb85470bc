//! How a trace departs from what is promised.

use std::error::Error;
use std::fmt;

/// The promise that is broken, by its number in `docs/semantics.md`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ActorPromise {
    /// O1, O2, M1: one causal order of messages and behaviours.
    Order,
    /// A1: an actor has one holder during a turn.
    Atomicity,
    /// G2, G9: the members of a group take turns.
    Groups,
    /// H7, G8: what is spawned after a move runs in the new home.
    Moves,
    /// M2: the hooks.
    Hooks,
    /// M3: one thing happens to each message.
    Once,
    /// M4: signals are processed in order, before the next behaviour.
    Signals,
    /// M5: what a restart keeps, and what it replaces.
    Restarts,
    /// M6: a panic fails those that were held exclusively.
    Failure,
    /// M7: nothing is handled by an actor that is suspended or held.
    Waiting,
    /// M8: every ask ends, with the answer or the reason.
    Asks,
    /// M9: the end of an actor of which no address is left.
    LastAddress,
    /// M10: ends are told once.
    EndNotices,
    /// The bounds of mailboxes, and lanes.
    Mailbox,
    /// What is set aside comes again, first and in its order.
    Stash,
    /// The trace itself cannot be: the harness is wrong.
    Harness,
}

/// A broken promise, and the events that show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PromiseViolation {
    /// Which promise.
    pub promise: ActorPromise,
    /// What has happened.
    pub why: String,
}

impl PromiseViolation {
    pub(super) fn new(promise: ActorPromise, why: impl Into<String>) -> Self {
        Self { promise, why: why.into() }
    }
}

impl fmt::Display for PromiseViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.promise, self.why)
    }
}

impl Error for PromiseViolation {}
