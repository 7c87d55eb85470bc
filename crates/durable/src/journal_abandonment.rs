//! What a journal gives up when it is closed before all of it is done.

use std::sync::{Mutex, MutexGuard, PoisonError};

use coact_core::Promise;
use coact_persist::EntityId;

use crate::latch::Latch;

/// Ends the wait for pending outcomes, once, and remembers which were pending.
#[derive(Default)]
pub(crate) struct JournalAbandonment {
    latch: Latch,
    left: Mutex<Option<PendingWork>>,
}

/// What was pending.
#[derive(Clone, Default)]
pub(crate) struct PendingWork {
    pub(crate) entities: Vec<EntityId>,
    /// Lanes with a message that was being delivered.
    pub(crate) deliveries: usize,
}

impl JournalAbandonment {
    /// Gives up what is pending. What the first call names is what is given up.
    pub(crate) fn begin(&self, pending: PendingWork) {
        self.lock().get_or_insert(pending);
        self.latch.open();
    }

    fn lock(&self) -> MutexGuard<'_, Option<PendingWork>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.latch.is_open()
    }

    /// Returns what is told when it begins.
    pub(crate) fn begun(&self) -> Promise<()> {
        self.latch.opened()
    }

    /// Returns what was given up.
    pub(crate) fn abandoned_work(&self) -> PendingWork {
        self.lock().clone().unwrap_or_default()
    }
}
