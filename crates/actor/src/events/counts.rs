//! Counters of failures.

use std::sync::atomic::{AtomicU64, Ordering};

use super::kinds::EventCounts;

/// The running [`EventCounts`].
#[derive(Default)]
pub(super) struct EventCounters {
    pub(super) dead_letters: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) restarts: AtomicU64,
    pub(super) dropped_messages: AtomicU64,
    pub(super) late_replies: AtomicU64,
}

impl EventCounters {
    pub(super) fn get(&self) -> EventCounts {
        // ORDERING: Relaxed, all. The counters publish nothing else, and are independent of one
        // another.
        EventCounts {
            dead_letters: self.dead_letters.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            restarts: self.restarts.load(Ordering::Relaxed),
            dropped_messages: self.dropped_messages.load(Ordering::Relaxed),
            late_replies: self.late_replies.load(Ordering::Relaxed),
        }
    }
}

/// Increments a counter.
pub(super) fn count(counter: &AtomicU64) {
    // ORDERING: Relaxed. See `EventCounters::get`.
    counter.fetch_add(1, Ordering::Relaxed);
}
