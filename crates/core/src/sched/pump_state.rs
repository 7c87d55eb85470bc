//! What a pumped runtime has beside its worker.

use coact_sync::shim::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::current;

/// What a pumped runtime has beside its worker.
pub(crate) struct PumpState {
    /// The thread that pumps.
    pub(super) thread: u64,
    /// Whether it does right now: then it needs no hook to see what comes.
    pumping: AtomicBool,
    /// How often it was woken to look at its condition; for simulations.
    pub(super) wakes: AtomicU64,
    /// Whether the hook was called since it last pumped; for simulations.
    pub(super) told: AtomicBool,
}

impl PumpState {
    /// The pump of the current thread.
    pub(super) fn new() -> Self {
        Self {
            thread: current::number(),
            pumping: AtomicBool::new(false),
            wakes: AtomicU64::new(0),
            told: AtomicBool::new(false),
        }
    }

    pub(super) fn is_pumping(&self) -> bool {
        // ORDERING: Relaxed. Ordered by the list of sleepers: who has taken the worker off it, after
        // it has left, sees that it has. A hook that is called without need does no harm.
        self.pumping.load(Ordering::Relaxed)
    }

    pub(super) fn set_pumping(&self, pumping: bool) {
        // ORDERING: Relaxed. As above.
        self.pumping.store(pumping, Ordering::Relaxed);
    }
}
