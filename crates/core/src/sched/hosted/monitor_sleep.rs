//! Whether the monitor of hosted workers sleeps.

use coact_sync::shim::atomic::{AtomicBool, Ordering};

/// Whether the monitor must be woken when a worker is called.
///
/// ORDERING: all Relaxed. The slots' locks order them: the monitor announces its sleep, and then
/// checks each slot under its lock; a thread that changes a slot from asleep does so under that
/// lock, and then checks here.
pub(super) struct MonitorSleep(AtomicBool);

impl MonitorSleep {
    pub(super) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Announces that the monitor sleeps; returns whether it may, since all workers do.
    pub(super) fn begin(&self, are_asleep: impl FnOnce() -> bool) -> bool {
        self.0.store(true, Ordering::Relaxed);
        are_asleep()
    }

    pub(super) fn end(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Returns whether the monitor sleeps: then the caller, which has changed a slot from asleep,
    /// wakes it.
    pub(super) fn is_to_end(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
