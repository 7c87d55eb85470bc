//! Moments: they distinguish what is before a behaviour in the queue from what is behind it; see
//! README.md, "Moments".

use coact_sync::shim::atomic::{AtomicU64, Ordering};

/// Counts the behaviours on the actor of one mailbox.
#[derive(Default)]
pub(super) struct Moments {
    begun: AtomicU64,
    ended: AtomicU64,
}

/// A reading of the counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Moment {
    /// How many behaviours are queued, or about to be.
    pub(super) begun: u64,
    /// Whether all of these are in their queues.
    pub(super) is_quiet: bool,
}

impl Moments {
    /// Notes that a behaviour is about to be queued.
    pub(super) fn begin(&self) {
        // ORDERING: Relaxed. It is published by the exchange that puts the behaviour into a queue:
        // a thread that queues something behind it sees it, and so does any thread that happens
        // after that.
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that it is in its queues, or will not be.
    pub(super) fn end(&self) {
        // ORDERING: Release pairs with the acquire in `now`: what is queued after that is behind
        // the behaviour.
        self.ended.fetch_add(1, Ordering::Release);
    }

    pub(super) fn now(&self) -> Moment {
        // The ended ones first: if no more have begun, then none was in between at this instant.
        // ORDERING: Acquire, see `end`. With it each of these is seen to have begun.
        let ended = self.ended.load(Ordering::Acquire);
        // ORDERING: Relaxed. What the caller knows of has happened before, see `begin`.
        let begun = self.begun.load(Ordering::Relaxed);
        Moment { begun, is_quiet: begun == ended }
    }
}

#[cfg(all(test, loom))]
mod loom;
