//! The state of a pumped runtime besides its worker.

use coact_sync::shim::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::current;

/// The state of a pumped runtime besides its worker.
pub(crate) struct PumpState {
    /// The thread that pumps.
    pub(super) thread: u64,
    /// Whether it is pumping: then it needs no hook to see new work.
    pumping: AtomicBool,
    /// How often it was woken to check its condition; for simulations.
    pub(super) wakes: AtomicU64,
    /// Whether the hook was called since it was last pumped; for simulations.
    pub(super) hook_called: AtomicBool,
}

impl PumpState {
    /// Creates the state of a pump of the current thread.
    pub(super) fn new() -> Self {
        Self {
            thread: current::number(),
            pumping: AtomicBool::new(false),
            wakes: AtomicU64::new(0),
            hook_called: AtomicBool::new(false),
        }
    }

    pub(super) fn is_pumping(&self) -> bool {
        // ORDERING: Relaxed. Ordered by the list of sleepers: a thread that takes the worker off
        // the list, after it has left, sees that it has. A spurious call of the hook is harmless.
        self.pumping.load(Ordering::Relaxed)
    }

    pub(super) fn set_pumping(&self, pumping: bool) {
        // ORDERING: Relaxed, see `is_pumping`.
        self.pumping.store(pumping, Ordering::Relaxed);
    }
}
