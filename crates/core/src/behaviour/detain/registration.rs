//! Registers detained behaviours with their runtime.

use std::sync::Arc;

use super::detention_table::{CutOff, DetentionTable};
use crate::panic::drop_quietly;
use crate::runtime_ids::RuntimeId;
use crate::sched::hold_open::Busy;
use crate::sched::phase::RuntimePhase;
use crate::sched::runtime_handle::{RuntimeHandle, count_abandoned};
use crate::sched::runtime_shared;

/// Registers a detained behaviour with its runtime. Until it is dropped, the runtime counts as
/// busy.
pub(super) struct DetentionRegistration {
    home: RuntimeId,
    number: usize,
    _busy: Busy,
}

impl DetentionRegistration {
    /// Enrols a behaviour that is about to run.
    pub(super) fn new(home: RuntimeId, detention: &Arc<impl CutOff + 'static>) -> Self {
        let shared = runtime_shared::get(home);
        let _busy = RuntimeHandle(home).hold_open();
        let number = shared.service::<DetentionTable>().insert(detention.clone());
        // The thread that ends the phase cuts off those in the list afterwards: either it or this
        // thread sees the other, by the list's lock (or, if the list is new, by the fence of
        // `RuntimeShared::service`).
        if shared.phase() != RuntimePhase::Running {
            detention.cut_off();
        }
        Self { home, number, _busy }
    }
}

/// Counts a behaviour that ends before its guard has said so.
pub(super) fn count_cut_off(home: RuntimeId) {
    count_abandoned(home);
}

impl Drop for DetentionRegistration {
    fn drop(&mut self) {
        let detention =
            runtime_shared::get(self.home).service::<DetentionTable>().remove(self.number);
        drop_quietly(move || drop(detention));
    }
}
