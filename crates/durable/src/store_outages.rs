//! Outages of a store, as the recoveries of a journal find them: those that wait for their turn
//! learn of one from those that ask the store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use coact_core::behaviour::NotCommitted;

/// An owner whose recovery waits for its turn.
pub(crate) trait QueuedOwner: Send + Sync {
    /// Wakes those who wait for the entity.
    fn wake_waiters(self: Arc<Self>);
}

/// What a recovery asks a store, which may fail by itself: on a full disk, for instance, what is
/// stored can be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecoveryQuestion {
    Claim,
    Events,
}

#[derive(Default)]
pub(crate) struct StoreOutages(Mutex<OutageState>);

#[derive(Default)]
struct OutageState {
    /// The recoveries that ask the store, or wait for their turn. Without any, nothing is known of
    /// the store.
    recoveries: usize,
    outage: Option<StoreOutage>,
    /// The owners whose recoveries wait for their turn.
    queue: BTreeMap<u64, Weak<dyn QueuedOwner>>,
    next: u64,
}

struct StoreOutage {
    question: RecoveryQuestion,
    why: NotCommitted,
    /// Whether it has lasted for the journal's patience.
    has_lasted: bool,
}

impl StoreOutages {
    fn state(&self) -> MutexGuard<'_, OutageState> {
        // Each change is made in one go: it is sound after a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a recovery as one that asks the store, until what is returned is dropped.
    pub(crate) fn begin_recovery(&self) -> OpenRecovery<'_> {
        self.state().recoveries += 1;
        OpenRecovery(self)
    }

    /// Begins an outage, unless there is one.
    pub(crate) fn begin(&self, question: RecoveryQuestion, why: &NotCommitted) {
        let begun = || StoreOutage { question, why: why.clone(), has_lasted: false };
        self.state().outage.get_or_insert_with(begun);
    }

    /// Ends an outage in which this question failed, because it was answered.
    pub(crate) fn end(&self, question: RecoveryQuestion) {
        let ended = self.state().outage.take_if(|outage| outage.question == question);
        drop(ended);
    }

    /// Ends any outage, because an entity was recovered.
    pub(crate) fn end_all(&self) {
        let ended = self.state().outage.take();
        drop(ended);
    }

    pub(crate) fn is_outage(&self) -> bool {
        self.state().outage.is_some()
    }

    /// Returns why those who wait fail, if there is an outage that has lasted.
    pub(crate) fn lasting(&self) -> Option<NotCommitted> {
        let state = self.state();
        state.outage.as_ref().filter(|outage| outage.has_lasted).map(|outage| outage.why.clone())
    }

    /// The outage, if there is one, has lasted for the journal's patience: tells those
    /// who wait for their turn.
    pub(crate) fn mark_lasting(&self) {
        let queue: Vec<_> = {
            let mut state = self.state();
            let Some(outage) = state.outage.as_mut().filter(|outage| !outage.has_lasted) else {
                return;
            };
            outage.has_lasted = true;
            state.queue.values().cloned().collect()
        };
        // Without the lock: this calls others.
        queue.iter().filter_map(Weak::upgrade).for_each(|owner| owner.wake_waiters());
    }

    /// Adds an owner to those that are told when an outage has lasted. Returns its number.
    pub(crate) fn enter_queue(&self, owner: Weak<dyn QueuedOwner>) -> u64 {
        let mut state = self.state();
        state.next += 1;
        let number = state.next;
        state.queue.insert(number, owner);
        number
    }

    pub(crate) fn leave_queue(&self, number: u64) {
        let owner = self.state().queue.remove(&number);
        drop(owner);
    }
}

/// A recovery that asks the store, or waits for its turn.
pub(crate) struct OpenRecovery<'a>(&'a StoreOutages);

impl Drop for OpenRecovery<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.recoveries -= 1;
        let ended = if state.recoveries == 0 { state.outage.take() } else { None };
        drop(state);
        drop(ended);
    }
}
