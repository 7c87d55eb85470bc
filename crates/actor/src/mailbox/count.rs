//! Numbers that only rise, of messages that no handler sees.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that only rises.
#[derive(Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn rise(&self) {
        // ORDERING: Relaxed. It counts, and tells of nothing else.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // ORDERING: Relaxed. See `rise`.
        self.0.load(Ordering::Relaxed)
    }
}
