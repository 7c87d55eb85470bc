//! Drives the recovery of an entity: waits for the owner before it, pending commits, its turn, and
//! the store. Those who wait for the entity are told once that has lasted for the journal's
//! patience.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use coact_core::Promise;
use coact_core::behaviour::NotCommitted;
use coact_persist::{EntityId, StoreError};

use super::commit_outcome::RuntimeEnded;
use super::driver::PipelineDriver;
use crate::entity_ownership::OwnershipTicket;
use crate::store_outages::RecoveryQuestion;

impl PipelineDriver {
    /// Says that the state is being recovered, until the result is dropped.
    pub(crate) fn begin_recovery(self: &Arc<Self>) -> RecoveryGuard {
        self.lock().recovery_begun();
        RecoveryGuard { driver: Arc::clone(self), is_over: false }
    }

    /// Waits until the owner before is gone, and all that it, or this one, has left is settled.
    /// Returns false if it is not wanted any more before.
    pub(crate) async fn take_over(
        self: &Arc<Self>,
        ticket: &OwnershipTicket,
        is_wanted: impl Fn() -> bool,
    ) -> bool {
        while let Some(changed) = ticket.wait() {
            self.waits_for(NotCommitted::new(AlreadyOwned(self.entity.id.clone())), None);
            if !is_wanted() {
                return false;
            }
            let _ = changed.await;
        }
        self.register_owner_if_first(ticket);
        loop {
            if !is_wanted() {
                return false;
            }
            let (resolver, changed) = Promise::channel();
            let taken_over = {
                let mut pipeline = self.lock();
                let taken_over = pipeline.take_over();
                if taken_over.is_none() {
                    pipeline.add_patient_waiter(Box::new(move || resolver.resolve(())));
                }
                taken_over
            };
            if let Some((is_owner, commands)) = taken_over {
                self.on_event(|_| commands);
                return is_owner;
            }
            let _ = changed.await;
        }
    }

    /// A recovery waits. When that has lasted for the journal's patience, those who wait look
    /// again, and other recoveries are told of the outage if this one waits for an answer to
    /// `question`.
    fn waits_for(self: &Arc<Self>, why: NotCommitted, question: Option<RecoveryQuestion>) {
        let begun = self.lock().recovery_waits(why);
        begun.into_iter().for_each(|wait| {
            self.start_timeout(wait, move |driver| {
                question.into_iter().for_each(|question| driver.outage_has_lasted(question));
            });
        });
    }

    /// Says that a recovery waits for the store, which cannot be reached.
    pub(crate) fn waits_for_store(self: &Arc<Self>, question: RecoveryQuestion, why: NotCommitted) {
        self.waits_for(why, Some(question));
    }

    /// Says that a recovery waits for an answer of the store, unless it is known to wait for
    /// something.
    pub(crate) fn waits_for_answer(self: &Arc<Self>, question: RecoveryQuestion) {
        let is_known = self.lock().is_recovery_waiting();
        if !is_known {
            let why = StoreError::Unavailable { why: "it has not answered yet".into() };
            self.waits_for(NotCommitted::new(why), Some(question));
        }
    }

    /// Tells the other recoveries that the store has not answered this question for the journal's
    /// patience.
    fn outage_has_lasted(&self, question: RecoveryQuestion) {
        let outages = &self.entity.client.outages;
        let why = self.lock().recovery_obstacle();
        why.iter().for_each(|why| outages.begin(question, why));
        outages.mark_lasting();
    }

    /// Says that a recovery waits for its turn, until what is returned is dropped.
    pub(crate) fn wait_for_turn(self: &Arc<Self>) -> TurnWait<'_> {
        self.lock().set_queued(true);
        let outages = &self.entity.client.outages;
        let number = outages.enter_queue(Arc::downgrade(self) as _);
        if outages.lasting().is_some() {
            self.wake_all();
        }
        TurnWait { driver: self, number }
    }

    /// Says that nothing keeps the recovery waiting any more.
    pub(crate) fn goes_on(&self) {
        let timeout = self.lock().recovery_goes_on();
        drop(timeout);
    }
}

/// A recovery that is under way.
pub(crate) struct RecoveryGuard {
    pub(crate) driver: Arc<PipelineDriver>,
    is_over: bool,
}

impl RecoveryGuard {
    /// Says that the state was recovered, or cannot be.
    pub(crate) fn end(mut self) {
        self.is_over = true;
    }
}

impl Drop for RecoveryGuard {
    fn drop(&mut self) {
        let cut_off = (!self.is_over).then(|| NotCommitted::new(RuntimeEnded));
        self.driver.on_event(|pipeline| pipeline.recovery_ended(cut_off));
    }
}

/// A recovery that waits for its turn.
pub(crate) struct TurnWait<'a> {
    driver: &'a PipelineDriver,
    number: u64,
}

impl Drop for TurnWait<'_> {
    fn drop(&mut self) {
        let outages = &self.driver.entity.client.outages;
        outages.leave_queue(self.number);
        if !outages.is_outage() {
            self.driver.goes_on();
        }
        self.driver.lock().set_queued(false);
    }
}

/// The entity has another actor in this journal, which has not ended for as long as the journal is
/// patient.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AlreadyOwned(pub EntityId);

impl fmt::Display for AlreadyOwned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(id) = self;
        write!(
            f,
            "`{id}` has another actor in this journal: use that one (`Journal::entity`), or end it"
        )
    }
}

impl Error for AlreadyOwned {}
