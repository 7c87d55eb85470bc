//! How often things have gone wrong.

use std::sync::atomic::{AtomicU64, Ordering};

use super::kinds::EventCounts;

/// Running [`EventCounts`].
#[derive(Default)]
pub(super) struct Counts {
    pub(super) dead_letters: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) restarts: AtomicU64,
    pub(super) dropped_messages: AtomicU64,
    pub(super) late_replies: AtomicU64,
}

impl Counts {
    pub(super) fn get(&self) -> EventCounts {
        // ORDERING: Relaxed, all. They count, and tell of nothing else, not even of one another.
        EventCounts {
            dead_letters: self.dead_letters.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            restarts: self.restarts.load(Ordering::Relaxed),
            dropped_messages: self.dropped_messages.load(Ordering::Relaxed),
            late_replies: self.late_replies.load(Ordering::Relaxed),
        }
    }
}

/// Counts one more.
pub(super) fn count(counter: &AtomicU64) {
    // ORDERING: Relaxed. See `Counts::get`.
    counter.fetch_add(1, Ordering::Relaxed);
}
