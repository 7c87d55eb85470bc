//! How the state of an entity is made again of what is stored.

use std::mem::replace;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use coact_core::behaviour::NotCommitted;
use coact_core::internals::{CatchDrop, catch, drop_quietly};
use coact_core::promise::Resolver;
use coact_core::runtime::spawn_future;
use coact_core::{Broken, Promise};
use coact_persist::{Claim, EventHash, FormatError, Seq, Snapshot, StoredEvent, read};

use crate::entity_ownership::{EntityOwnership, OwnershipTicket};
use crate::entity_state::{AnswerCache, EntityState, PendingChanges, SnapshotProgress};
use crate::event_sourced::EventSourced;
use crate::pipeline::{PipelineDriver, RecoveryGuard};
use crate::recovery_error::{RecoveryError, RecoveryFault};
use crate::snapshots::Snapshots;
use crate::store_client::lock;
use crate::store_questions::{RecoveryEnd, StoreQuestions};
use crate::stored_message::{first_number, now};

type RecoverySlot<E> = Mutex<Option<EntityState<E>>>;

/// A recovery that is under way, or its result, until that is taken. It ends when this is dropped.
pub(crate) struct StateRecovery<E> {
    slot: Option<Arc<RecoverySlot<E>>>,
    pipeline: Arc<PipelineDriver>,
    /// Resolved when this is dropped.
    dropped: Option<Resolver<()>>,
}

impl<E: EventSourced> StateRecovery<E> {
    /// Begins one, for an owner with this place.
    pub(crate) fn begin(pipeline: &Arc<PipelineDriver>, ticket: Arc<OwnershipTicket>) -> Self {
        let slot = Arc::default();
        let (resolver, dropped) = Promise::channel();
        let run = recover::<E>(pipeline.begin_recovery(), ticket, Arc::downgrade(&slot), dropped);
        drop(spawn_future(run));
        Self { slot: Some(slot), pipeline: Arc::clone(pipeline), dropped: Some(resolver) }
    }
}

impl<E> StateRecovery<E> {
    /// Returns the result, if it is there.
    pub(crate) fn result(&self) -> MutexGuard<'_, Option<EntityState<E>>> {
        let slot = self.slot.as_ref().expect("it is there until this is dropped");
        lock(slot)
    }
}

impl<E> Drop for StateRecovery<E> {
    fn drop(&mut self) {
        let slot = self.slot.take();
        drop_quietly(move || drop(slot));
        // It may wait for the store, for what another one has by now, or for pending commits.
        self.dropped.take().into_iter().for_each(|dropped| dropped.resolve(()));
        self.pipeline.entity.wake_all();
        self.pipeline.wake_all();
    }
}

/// Recovers an entity for an owner. Waits for the owner before it, for pending commits, and while
/// the store cannot be reached. Once its result is not wanted any more, it ends as soon as no
/// question to the store is open.
async fn recover<E: EventSourced>(
    recovering: RecoveryGuard,
    ticket: Arc<OwnershipTicket>,
    slot: Weak<RecoverySlot<E>>,
    dropped: Promise<()>,
) {
    let pipeline = Arc::clone(&recovering.driver);
    let is_wanted = || slot.strong_count() > 0;
    if !pipeline.take_over(&ticket, is_wanted).await {
        return recovering.end();
    }
    let recovered = HistoryReader::read::<E>(&pipeline, dropped).await;
    match recovered {
        Ok(recovered) => {
            pipeline.entity.set_readable(true);
            pipeline.entity.client.outages.end_all();
            if let Some(slot) = slot.upgrade() {
                *lock(&slot) = Some(recovered);
            } else {
                drop_quietly(move || drop(recovered));
            }
        }
        Err(RecoveryEnd::Failed(error)) => {
            pipeline.entity.set_readable(error.is_damage());
            tracing::error!("{error}");
            pipeline.fail(NotCommitted::new(error));
        }
        Err(RecoveryEnd::Closed) => pipeline.close(),
        Err(RecoveryEnd::Dropped) => {}
    }
    recovering.end();
    // (If the owner is gone, the next one has waited until here: two claims at once might come in
    // the wrong order.)
    drop(ticket);
}

/// What was read of an entity up to some event.
struct HistoryReader<'a> {
    entity: &'a EntityOwnership,
    last: Seq,
    hash: EventHash,
}

impl HistoryReader<'_> {
    async fn read<E: EventSourced>(
        pipeline: &Arc<PipelineDriver>,
        dropped: Promise<()>,
    ) -> Result<EntityState<E>, RecoveryEnd> {
        let mut questions = StoreQuestions::new(pipeline, dropped);
        let mut claimed = questions.claim().await?;
        loop {
            match Self::read_claimed(&mut questions, &pipeline.entity, &claimed).await {
                // It may be as another owner has made it meanwhile, and be sound: its epoch says
                // whether there was one.
                Err(RecoveryEnd::Failed(error)) if error.is_damage() => {
                    let before = replace(&mut claimed, questions.claim().await?);
                    if claimed.epoch <= before.epoch.next() {
                        return Err(error.into());
                    }
                }
                read => return read,
            }
        }
    }

    async fn read_claimed<E: EventSourced>(
        questions: &mut StoreQuestions<'_>,
        entity: &EntityOwnership,
        claim: &Claim,
    ) -> Result<EntityState<E>, RecoveryEnd> {
        let mut history =
            HistoryReader { entity, last: Seq::ZERO, hash: EventHash::of(&entity.id) };
        let InitialState { state, mut passed_over } = history.begin::<E>(claim)?;
        let mut state = CatchDrop::new(state);
        let last = history.last;
        let mut snapshots = SnapshotProgress { last, tried: last, bytes: 0 };
        while history.last < claim.last {
            let events = questions.events(history.last).await?;
            if let Some(why) = passed_over.take() {
                if events.first().is_none_or(|event| event.seq != history.last.next()) {
                    return Err(why.into());
                }
                if let RecoveryFault::Snapshot(why) = why.why {
                    tracing::warn!(entity = %entity.id, %why, "a snapshot is passed over for all events");
                }
            }
            if events.is_empty() {
                return Err(history.fault(RecoveryFault::Missing { found: None }).into());
            }
            for event in events {
                // What comes behind the claim is of another owner, and this one is about to be
                // fenced.
                if history.last == claim.last {
                    break;
                }
                snapshots.bytes += event.event.payload.len() as u64;
                history.add(&mut state, &event)?;
            }
        }
        if (history.last, history.hash) != (claim.last, claim.hash) {
            return Err(history.fault(RecoveryFault::OtherHash).into());
        }
        let (last, hash) = (history.last, history.hash);
        Ok(EntityState {
            state: state.into_inner(),
            epoch: claim.epoch,
            last,
            hash,
            snapshots,
            sent: first_number(now()),
            answers: AnswerCache::default(),
            pending: PendingChanges::default(),
        })
    }

    /// Begins with the snapshot, if there is one that this program takes, and can read.
    fn begin<E: EventSourced>(&mut self, claim: &Claim) -> Result<InitialState<E>, RecoveryError> {
        let snapshots = self.guarded(E::snapshots)?;
        let why = match (&claim.snapshot, snapshots) {
            (Some(snapshot), Some(snapshots)) => {
                match self.begin_with(snapshot, &snapshots, claim.last)? {
                    Ok(state) => return Ok(InitialState { state, passed_over: None }),
                    Err(error) => Some((snapshot.seq, RecoveryFault::Snapshot(error))),
                }
            }
            (Some(snapshot), None) => Some((snapshot.seq, RecoveryFault::NoSnapshots)),
            (None, _) => None,
        };
        let passed_over = why.map(|(seq, why)| self.fault_at(seq, why));
        let state = self.guarded(|| E::new(&self.entity.id))?;
        Ok(InitialState { state, passed_over })
    }

    fn begin_with<E>(
        &mut self,
        snapshot: &Snapshot,
        snapshots: &Snapshots<E>,
        last: Seq,
    ) -> Result<Result<E, FormatError>, RecoveryError> {
        let damaged = |why| self.fault_at(snapshot.seq, why);
        let checked = snapshot.check(&self.entity.id);
        checked.map_err(|error| damaged(RecoveryFault::Store(error)))?;
        // Each is stored with its last event, and removed with it: it cannot be behind.
        if snapshot.seq > last {
            return Err(damaged(RecoveryFault::SnapshotAhead { last }));
        }
        let state = self.guarded_at(snapshot.seq, || (snapshots.read)(&snapshot.state))?;
        if state.is_ok() {
            (self.last, self.hash) = (snapshot.seq, snapshot.hash);
        }
        Ok(state)
    }

    fn add<E: EventSourced>(
        &mut self,
        state: &mut CatchDrop<E>,
        stored: &StoredEvent,
    ) -> Result<(), RecoveryError> {
        let seq = self.last.next();
        if stored.seq != seq {
            return Err(self.fault(RecoveryFault::Missing { found: Some(stored.seq) }));
        }
        let hash = self.hash.with(seq, &stored.event);
        if stored.hash != hash {
            return Err(self.fault(RecoveryFault::OtherHash));
        }
        let applied = self.guarded(|| {
            let event = read::<E::Event>(&stored.event)?;
            state.apply(&event);
            Ok(())
        })?;
        applied.map_err(|error| self.fault(RecoveryFault::Format(error)))?;
        (self.last, self.hash) = (seq, hash);
        Ok(())
    }

    /// Runs code of the user, for the next event.
    fn guarded<R>(&self, work: impl FnOnce() -> R) -> Result<R, RecoveryError> {
        self.guarded_at(self.last.next(), work)
    }

    fn guarded_at<R>(&self, seq: Seq, work: impl FnOnce() -> R) -> Result<R, RecoveryError> {
        catch(work).map_err(|why| {
            let message = match why {
                Broken::Panicked(message) => message,
                other => other.to_string().into(),
            };
            self.fault_at(seq, RecoveryFault::Panicked(message))
        })
    }

    fn fault(&self, why: RecoveryFault) -> RecoveryError {
        self.fault_at(self.last.next(), why)
    }

    fn fault_at(&self, seq: Seq, why: RecoveryFault) -> RecoveryError {
        RecoveryError { entity: self.entity.id.clone(), seq, why }
    }
}

/// A state that has what is in a snapshot, or nothing yet.
struct InitialState<E> {
    state: E,
    /// Why not what is in the snapshot.
    passed_over: Option<RecoveryError>,
}
