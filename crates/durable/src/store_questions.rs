//! What a recovery asks the store: in turn with other recoveries, and again while the store cannot
//! be reached.

use std::pin::pin;
use std::sync::Arc;

use coact_core::Promise;
use coact_core::behaviour::NotCommitted;
use coact_core::credits::Permit;
use coact_persist::{Claim, Done, Seq, Store, StoreError, StoredEvent};

use crate::access::{Backoff, asked, or_unavailable};
use crate::outages::{OpenRecovery, Question};
use crate::owner::Owner;
use crate::race::{poll_once, unless};
use crate::recovery_error::{RecoveryError, RecoveryFault};

/// How many events are read at once.
const PAGE: usize = 256;

/// Why a recovery has no result.
pub(crate) enum RecoveryEnd {
    Failed(RecoveryError),
    /// Its result is not wanted any more.
    Dropped,
    /// The journal, or its store, is closed.
    Closed,
}

impl From<RecoveryError> for RecoveryEnd {
    fn from(error: RecoveryError) -> Self {
        Self::Failed(error)
    }
}

/// Asks a store for a recovery.
pub(crate) struct StoreQuestions<'a> {
    owner: &'a Arc<Owner>,
    /// As long as it is its turn: not while it waits until it asks a store again that could not be
    /// reached.
    turn: Option<Permit>,
    /// Told when the result is not wanted any more.
    dropped: Promise<()>,
    _open: OpenRecovery<'a>,
}

impl<'a> StoreQuestions<'a> {
    pub(crate) fn new(owner: &'a Arc<Owner>, dropped: Promise<()>) -> Self {
        let _open = owner.entity.access.outages.begin_recovery();
        Self { owner, turn: None, dropped, _open }
    }

    pub(crate) async fn claim(&mut self) -> Result<Claim, RecoveryEnd> {
        let id = &self.owner.entity.id;
        let claim = self.ask(Question::Claim, |store, done| store.claim(id.clone(), done)).await?;
        self.owner.entity.access.learn_position(claim.position);
        Ok(claim)
    }

    /// Reads events from behind this one on.
    pub(crate) async fn events(&mut self, after: Seq) -> Result<Vec<StoredEvent>, RecoveryEnd> {
        let id = &self.owner.entity.id;
        let read = |store: &dyn Store, done| store.events(id.clone(), after, PAGE, done);
        self.ask(Question::Events, read).await
    }

    /// Asks until the store answers.
    async fn ask<T: Send + 'static>(
        &mut self,
        which: Question,
        question: impl Fn(&dyn Store, Done<Result<T, StoreError>>),
    ) -> Result<T, RecoveryEnd> {
        let owner = self.owner;
        let access = &owner.entity.access;
        let mut backoff = Backoff::default();
        loop {
            self.take_turn().await?;
            let Ok(store) = access.open_store() else { return Err(RecoveryEnd::Closed) };
            match self.answer(which, asked(|done| question(store, done))).await {
                Ok(answer) => {
                    access.outages.end(which);
                    owner.goes_on();
                    return Ok(answer);
                }
                Err(error @ StoreError::Unavailable { .. }) => {
                    let why = NotCommitted::new(error);
                    access.outages.begin(which, &why);
                    owner.waits_for_store(which, why);
                    // Others may find that it can be reached again.
                    self.turn = None;
                    let pause = pin!(backoff.wait());
                    unless(&mut self.dropped, pause).await.ok_or(RecoveryEnd::Dropped)?;
                }
                Err(StoreError::Closed) => return Err(RecoveryEnd::Closed),
                Err(error) => {
                    let seq = match &error {
                        StoreError::Corrupt { seq, .. } => *seq,
                        _ => Seq::ZERO,
                    };
                    let (entity, why) = (owner.entity.id.clone(), RecoveryFault::Store(error));
                    return Err(RecoveryError { entity, seq, why }.into());
                }
            }
        }
    }

    /// Waits for the answer, whether it is wanted or not: a claim that is open might come behind
    /// that of the next owner.
    async fn answer<T: Send>(
        &self,
        which: Question,
        mut answer: Promise<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        or_unavailable(match poll_once(&mut answer).await {
            Some(answer) => answer,
            None => {
                self.owner.waits_for_answer(which);
                answer.await
            }
        })
    }

    /// Waits for its turn. A queue of recoveries is no outage: only if others find that the store
    /// cannot be reached, those who wait for this entity are told so.
    async fn take_turn(&mut self) -> Result<(), RecoveryEnd> {
        if self.turn.is_some() {
            return Ok(());
        }
        let access = &self.owner.entity.access;
        let mut turn = access.may_recover();
        let turn = match poll_once(&mut turn).await {
            Some(turn) => Some(turn),
            None => {
                let _wait = self.owner.wait_for_turn();
                unless(&mut self.dropped, &mut turn).await
            }
        };
        self.turn = Some(turn.ok_or(RecoveryEnd::Dropped)?);
        Ok(())
    }
}
