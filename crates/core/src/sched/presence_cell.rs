//! How an external thread and a check for external threads see each other: the part of
//! `external_threads.rs` that models run. For the argument, see README.md, "Idleness"; the models
//! are in `runtime_shared/loom.rs`, with the check that uses this.

use std::sync::Arc;

use coact_sync::asym;

use crate::runtime_ids::RuntimeId;
use crate::static_shim::{AtomicU32, Mutex, Ordering};

/// The presence of one thread: the runtime's id in the low half, the nesting depth in the high
/// half.
#[derive(Default)]
pub(super) struct PresenceCell(AtomicU32);

const DEEPER: u32 = 1 << 16;

impl PresenceCell {
    /// Begins a presence, unless the cell's thread, which is the caller, is present in another
    /// runtime.
    #[inline]
    pub(super) fn enter(&self, runtime: RuntimeId) -> Option<ThreadPresence<'_>> {
        // ORDERING: Relaxed. Only this thread writes it.
        let before = self.0.load(Ordering::Relaxed);
        if before != 0 && before as u16 != runtime.get() {
            return None;
        }
        let now = if before == 0 { u32::from(runtime.get()) | DEEPER } else { before + DEEPER };
        // ORDERING: Relaxed. The light barrier pairs with the heavy one in
        // `ExternalThreads::count`: that sees this thread, or this thread comes after it.
        self.0.store(now, Ordering::Relaxed);
        asym::light();
        Some(ThreadPresence { cell: self, before })
    }

    /// Returns the runtime in which the cell's thread, which is the caller, is present.
    #[cfg(not(all(test, loom)))]
    pub(super) fn runtime(&self) -> Option<RuntimeId> {
        // ORDERING: Relaxed. Only this thread writes it.
        let now = self.0.load(Ordering::Relaxed);
        (now != 0).then(|| RuntimeId::from_raw(now as u16))
    }

    /// Returns whether the cell's thread, which is the caller, is present in the runtime.
    pub(super) fn is_in(&self, runtime: RuntimeId) -> bool {
        // ORDERING: Relaxed. Only this thread writes it.
        self.0.load(Ordering::Relaxed) as u16 == runtime.get()
    }
}

/// A presence, which ends when dropped, on the thread that began it.
pub(super) struct ThreadPresence<'a> {
    cell: &'a PresenceCell,
    before: u32,
}

impl Drop for ThreadPresence<'_> {
    #[inline]
    fn drop(&mut self) {
        // ORDERING: Release pairs with the Acquire in `ExternalThreads::count`: what the external
        // thread left in the runtime's queues is visible to a thread that sees it gone.
        self.cell.0.store(self.before, Ordering::Release);
    }
}

/// The cells of all live threads that have ever been external threads.
#[derive(Default)]
pub(super) struct ExternalThreads(pub(super) Mutex<Vec<Arc<PresenceCell>>>);

impl ExternalThreads {
    /// Adds a cell for a thread that is not an external thread yet.
    pub(super) fn register(&self) -> Arc<PresenceCell> {
        let cell = Arc::<PresenceCell>::default();
        self.0.lock().push(Arc::clone(&cell));
        cell
    }

    pub(super) fn forget(&self, gone: &Arc<PresenceCell>) {
        self.0.lock().retain(|cell| !Arc::ptr_eq(cell, gone));
    }

    /// Returns the number of external threads of these runtimes right now.
    pub(super) fn count(&self, runtimes: &dyn Fn(RuntimeId) -> bool) -> usize {
        // Pairs with the light barrier in `PresenceCell::enter`. (A thread that registers after the
        // list was read comes later by the lock alone.)
        asym::heavy();
        let external_threads = self.0.lock();
        // ORDERING: Acquire pairs with the Release of an external thread that leaves.
        let present_in = external_threads.iter().map(|cell| cell.0.load(Ordering::Acquire) as u16);
        present_in.filter(|id| *id != 0 && runtimes(RuntimeId::from_raw(*id))).count()
    }
}
