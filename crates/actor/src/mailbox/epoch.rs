//! What tells apart what stands before, and after, a behaviour: README.md, "Epochs".

use coact_sync::shim::atomic::{AtomicU64, Ordering};

/// The epoch of one mailbox.
pub(super) struct Epoch(AtomicU64);

impl Epoch {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// A behaviour is about to be queued, or has been.
    pub(super) fn step(&self) {
        // ORDERING: Release. Pairs with `now`: whoever sees the step that follows the queueing of a
        // behaviour makes its ticket after that.
        self.0.fetch_add(1, Ordering::Release);
    }

    pub(super) fn now(&self) -> u64 {
        // ORDERING: Acquire, see `step`.
        self.0.load(Ordering::Acquire)
    }
}

#[cfg(all(test, loom))]
mod loom;
