//! Monotonic counters of messages that no handler receives.

use std::sync::atomic::{AtomicU64, Ordering};

/// A monotonic counter.
#[derive(Default)]
pub(crate) struct DropCounter(AtomicU64);

impl DropCounter {
    pub(crate) fn increment(&self) {
        // ORDERING: Relaxed. The counter publishes nothing else.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // ORDERING: Relaxed. See `increment`.
        self.0.load(Ordering::Relaxed)
    }
}
