//! Counts the work of a runtime that is in no queue. See README.md, "Idleness".

use std::process::abort;

use coact_sync::shim::atomic::{AtomicU64, Ordering};

/// The pending timers, blocking jobs, futures and guards of a runtime. The low half counts the
/// current ones, the high half all that have ever begun, modulo 2<sup>32</sup>.
pub(super) struct OutstandingWork(AtomicU64);

/// What another one adds.
const ONE_BEGUN: u64 = BEGUN + 1;
/// One in the half that counts what has begun.
const BEGUN: u64 = 1 << 32;

/// Beyond this number the current ones could carry into the other half, and count as none. Only
/// leaked guards can lead there: all else needs memory until it ends.
const MAX: u32 = u32::MAX / 2;

impl OutstandingWork {
    #[inline]
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Counts another piece of work.
    #[inline]
    pub(super) fn begin(&self) {
        // ORDERING: Relaxed. The thread that begins it is itself visible work.
        self.0.fetch_add(ONE_BEGUN, Ordering::Relaxed);
    }

    /// The same for one that can be leaked without end. Aborts before the count is wrong.
    #[inline]
    pub(super) fn begin_guard(&self) {
        // ORDERING: Relaxed, as in `begin`.
        if self.0.fetch_add(ONE_BEGUN, Ordering::Relaxed) as u32 > MAX {
            abort();
        }
    }

    /// Ends one, after what it leads to was submitted. Returns whether it was the last.
    #[inline]
    pub(super) fn end(&self) -> bool {
        // ORDERING: Release pairs with the Acquire in `current`: what was submitted before is
        // visible.
        self.0.fetch_sub(1, Ordering::Release) as u32 == 1
    }

    /// Returns how many there are. A caller that finds none sees what they have led to.
    #[inline]
    pub(super) fn current(&self) -> u32 {
        // ORDERING: Acquire pairs with the Release in `end`.
        self.0.load(Ordering::Acquire) as u32
    }

    /// The same for a report.
    pub(super) fn current_for_report(&self) -> u32 {
        // ORDERING: Relaxed. Nothing is decided by it.
        self.0.load(Ordering::Relaxed) as u32
    }

    /// Returns how many have ever begun: equal at two times between which none has.
    pub(super) fn begun(&self) -> u64 {
        // ORDERING: Relaxed. The checks between two calls order them (`RuntimeShared::stamp`).
        self.0.load(Ordering::Relaxed) / BEGUN
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
