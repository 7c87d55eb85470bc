//! What a recovery asks the store: in turn with other recoveries, and again while the store cannot
//! be reached.

use std::pin::pin;
use std::sync::Arc;

use coact_core::Promise;
use coact_core::behaviour::NotCommitted;
use coact_core::credits::Permit;
use coact_persist::{Claim, Seq, Store, StoreCallback, StoreError, StoredEvent};

use crate::future_until::{poll_once, until};
use crate::pipeline::PipelineDriver;
use crate::recovery_error::{RecoveryError, RecoveryFault};
use crate::store_client::{Backoff, asked, or_unavailable};
use crate::store_outages::{OpenRecovery, RecoveryQuestion};

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
    pipeline: &'a Arc<PipelineDriver>,
    /// As long as it is its turn: not while it waits until it asks a store again that could not be
    /// reached.
    turn: Option<Permit>,
    /// Told when the result is not wanted any more.
    dropped: Promise<()>,
    _open: OpenRecovery<'a>,
}

impl<'a> StoreQuestions<'a> {
    pub(crate) fn new(pipeline: &'a Arc<PipelineDriver>, dropped: Promise<()>) -> Self {
        let _open = pipeline.entity.client.outages.begin_recovery();
        Self { pipeline, turn: None, dropped, _open }
    }

    pub(crate) async fn claim(&mut self) -> Result<Claim, RecoveryEnd> {
        let id = &self.pipeline.entity.id;
        let claim =
            self.ask(RecoveryQuestion::Claim, |store, done| store.claim(id.clone(), done)).await?;
        self.pipeline.entity.client.learn_position(claim.position);
        Ok(claim)
    }

    /// Reads events from behind this one on.
    pub(crate) async fn events(&mut self, after: Seq) -> Result<Vec<StoredEvent>, RecoveryEnd> {
        let id = &self.pipeline.entity.id;
        let read = |store: &dyn Store, done| store.events(id.clone(), after, PAGE, done);
        self.ask(RecoveryQuestion::Events, read).await
    }

    /// Asks until the store answers.
    async fn ask<T: Send + 'static>(
        &mut self,
        which: RecoveryQuestion,
        question: impl Fn(&dyn Store, StoreCallback<Result<T, StoreError>>),
    ) -> Result<T, RecoveryEnd> {
        let pipeline = self.pipeline;
        let client = &pipeline.entity.client;
        let mut backoff = Backoff::default();
        loop {
            self.take_turn().await?;
            let Ok(store) = client.open_store() else { return Err(RecoveryEnd::Closed) };
            match self.answer(which, asked(|done| question(store, done))).await {
                Ok(answer) => {
                    client.outages.end(which);
                    pipeline.goes_on();
                    return Ok(answer);
                }
                Err(error @ StoreError::Unavailable { .. }) => {
                    let why = NotCommitted::new(error);
                    client.outages.begin(which, &why);
                    pipeline.waits_for_store(which, why);
                    // Others may find that it can be reached again.
                    self.turn = None;
                    let pause = pin!(backoff.wait());
                    until(&mut self.dropped, pause).await.ok_or(RecoveryEnd::Dropped)?;
                }
                Err(StoreError::Closed) => return Err(RecoveryEnd::Closed),
                Err(error) => {
                    let seq = match &error {
                        StoreError::Corrupt { seq, .. } => *seq,
                        _ => Seq::ZERO,
                    };
                    let (entity, why) = (pipeline.entity.id.clone(), RecoveryFault::Store(error));
                    return Err(RecoveryError { entity, seq, why }.into());
                }
            }
        }
    }

    /// Waits for the answer, whether it is wanted or not: a claim that is open might come behind
    /// that of the next owner.
    async fn answer<T: Send>(
        &self,
        which: RecoveryQuestion,
        mut answer: Promise<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        or_unavailable(match poll_once(&mut answer).await {
            Some(answer) => answer,
            None => {
                self.pipeline.waits_for_answer(which);
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
        let client = &self.pipeline.entity.client;
        let mut turn = client.may_recover();
        let turn = match poll_once(&mut turn).await {
            Some(turn) => Some(turn),
            None => {
                let _wait = self.pipeline.wait_for_turn();
                until(&mut self.dropped, &mut turn).await
            }
        };
        self.turn = Some(turn.ok_or(RecoveryEnd::Dropped)?);
        Ok(())
    }
}
