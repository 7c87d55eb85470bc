//! How the state of an entity is made again of what is stored.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use coact_actor::actor::ExitReason;
use coact_core::Broken;
use coact_core::internals::{catch, drop_quietly};
use coact_core::runtime::spawn_future;
use coact_persist::{
    Claim, EntityId, Epoch, Event, EventHash, FormatError, Seq, StoreError, StoredEvent, read,
};

use crate::access::{Backoff, ask, now};
use crate::entity::{Entity, Occupied, Recovering};
use crate::event_sourced::EventSourced;

/// How many events are read at once.
const PAGE: usize = 256;

/// An entity as its owner has it.
pub(crate) struct Recovered<E> {
    pub(crate) state: E,
    pub(crate) epoch: Epoch,
    /// The last event that the state has, stored or on its way.
    pub(crate) last: Seq,
    pub(crate) hash: EventHash,
    /// The last event of the latest snapshot.
    pub(crate) snapshot: Seq,
    /// What the closure or command that runs has added to that.
    pub(crate) pending: Vec<Event>,
    pub(crate) occupied: Occupied,
}

type Slot<E> = Mutex<Option<Result<Recovered<E>, RecoveryError>>>;

/// A recovery that is under way, or its result, until that is taken. It ends when this is dropped.
pub(crate) struct Recovery<E> {
    slot: Option<Arc<Slot<E>>>,
    entity: Arc<Entity>,
}

impl<E: EventSourced> Recovery<E> {
    /// Begins one, for an owner that is one already, or becomes it.
    pub(crate) fn begin(entity: &Arc<Entity>, own: Option<Occupied>) -> Self {
        let slot = Arc::default();
        let run = recover::<E>(entity.begin_recovery(), own, Arc::downgrade(&slot));
        drop(spawn_future(run));
        Self { slot: Some(slot), entity: Arc::clone(entity) }
    }
}

impl<E> Recovery<E> {
    /// Returns the result, if it is there.
    pub(crate) fn result(&self) -> MutexGuard<'_, Option<Result<Recovered<E>, RecoveryError>>> {
        let slot = self.slot.as_ref().expect("it is there until this is dropped");
        slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E> Drop for Recovery<E> {
    fn drop(&mut self) {
        let slot = self.slot.take();
        drop_quietly(move || drop(slot));
        // It may wait for what another one has by now.
        self.entity.wake_all();
    }
}

/// Why an entity cannot be recovered. What is stored of it was not changed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RecoveryError {
    /// Which.
    pub entity: EntityId,
    /// The event at which that was found.
    pub seq: Seq,
    /// What was found.
    pub why: RecoveryFault,
}

/// What is wrong with the history of an entity.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RecoveryFault {
    /// The event is missing: this one comes in its place, or none.
    Missing {
        /// The next one that there is.
        found: Option<Seq>,
    },
    /// Its check sum is another one than that which belongs to it and those before it.
    OtherHash,
    /// It cannot be read.
    Format(FormatError),
    /// [`EventSourced::apply`] has panicked.
    Panicked(Arc<str>),
    /// What the store says.
    Store(StoreError),
}

impl Display for RecoveryError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { entity, seq, why } = self;
        write!(f, "`{entity}` cannot be recovered from event {seq} on: ")?;
        match why {
            RecoveryFault::Missing { found: Some(found) } => {
                write!(f, "it is missing, and event {found} comes in its place")
            }
            RecoveryFault::Missing { found: None } => {
                f.write_str("it is missing, though it was stored")
            }
            RecoveryFault::OtherHash => f.write_str(
                "it was changed after it was stored, or belongs elsewhere (its check sum is another one)",
            ),
            RecoveryFault::Format(error) => Display::fmt(error, f),
            RecoveryFault::Panicked(message) => write!(f, "`apply` panicked: {message}"),
            RecoveryFault::Store(error) => Display::fmt(error, f),
        }?;
        f.write_str(". What is stored was not changed")
    }
}

impl Error for RecoveryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.why {
            RecoveryFault::Format(error) => Some(error),
            RecoveryFault::Store(error) => Some(error),
            _ => None,
        }
    }
}

/// Recovers an entity for an owner. Waits for the one before, and for what is on its way, and as long as the store
/// cannot be reached.
async fn recover<E: EventSourced>(
    recovering: Recovering,
    own: Option<Occupied>,
    slot: Weak<Slot<E>>,
) {
    let entity = Arc::clone(&recovering.entity);
    let is_wanted = || slot.strong_count() > 0;
    let Some(occupied) = entity.occupy(own, is_wanted).await else { return recovering.end() };
    let permit = entity.access.may_recover().await;
    let recovered = History::read::<E>(&entity, occupied).await;
    drop(permit);
    let failure = recovered.as_ref().err().cloned();
    let Some(slot) = slot.upgrade() else { return recovering.end() };
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(recovered);
    drop(slot);
    recovering.end();
    if let Some(failure) = failure {
        tracing::error!("{failure}");
        entity.stop(ExitReason::Failed(failure.to_string().into()));
    }
}

/// What was read of an entity up to some event.
struct History<'a> {
    entity: &'a Entity,
    last: Seq,
    hash: EventHash,
}

impl History<'_> {
    async fn read<E: EventSourced>(
        entity: &Entity,
        occupied: Occupied,
    ) -> Result<Recovered<E>, RecoveryError> {
        let claim = claim(entity).await?;
        let mut history = History { entity, last: Seq::ZERO, hash: EventHash::of(&entity.id) };
        let mut state = history.begin::<E>(&claim)?;
        let snapshot = history.last;
        while history.last < claim.last {
            let events = history.page().await?;
            if events.is_empty() {
                return Err(history.fault(RecoveryFault::Missing { found: None }));
            }
            for event in events {
                history.add(&mut state, &event)?;
            }
        }
        if (history.last, history.hash) != (claim.last, claim.hash) {
            return Err(history.fault(RecoveryFault::OtherHash));
        }
        let (last, hash) = (history.last, history.hash);
        Ok(Recovered {
            state,
            epoch: claim.epoch,
            last,
            hash,
            snapshot,
            pending: Vec::new(),
            occupied,
        })
    }

    /// Begins with the snapshot, if there is one that this program takes.
    fn begin<E: EventSourced>(&mut self, claim: &Claim) -> Result<E, RecoveryError> {
        match (&claim.snapshot, E::snapshots()) {
            (Some(snapshot), Some(snapshots)) if snapshot.seq <= claim.last => {
                let state = self.guarded(|| (snapshots.read)(&snapshot.state))?;
                let state = state.map_err(|error| self.fault(RecoveryFault::Format(error)))?;
                (self.last, self.hash) = (snapshot.seq, snapshot.hash);
                Ok(state)
            }
            _ => self.guarded(|| E::new(&self.entity.id)),
        }
    }

    async fn page(&self) -> Result<Vec<StoredEvent>, RecoveryError> {
        let (entity, last) = (self.entity, self.last);
        again_while_down(entity, || {
            ask(move |done| entity.access.store().events(entity.id.clone(), last, PAGE, done))
        })
        .await
    }

    fn add<E: EventSourced>(
        &mut self,
        state: &mut E,
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
        let event = self.guarded(|| read::<E::Event>(&stored.event))?;
        let event = event.map_err(|error| self.fault(RecoveryFault::Format(error)))?;
        self.guarded(|| state.apply(&event))?;
        (self.last, self.hash) = (seq, hash);
        Ok(())
    }

    /// Runs code of the user.
    fn guarded<R>(&self, work: impl FnOnce() -> R) -> Result<R, RecoveryError> {
        catch(work).map_err(|why| {
            let message = match why {
                Broken::Panicked(message) => message,
                other => other.to_string().into(),
            };
            self.fault(RecoveryFault::Panicked(message))
        })
    }

    fn fault(&self, why: RecoveryFault) -> RecoveryError {
        RecoveryError { entity: self.entity.id.clone(), seq: self.last.next(), why }
    }
}

async fn claim(entity: &Entity) -> Result<Claim, RecoveryError> {
    again_while_down(entity, || ask(|done| entity.access.store().claim(entity.id.clone(), done)))
        .await
}

/// Asks a store until it answers.
async fn again_while_down<T, Q: Future<Output = Result<T, StoreError>>>(
    entity: &Entity,
    mut question: impl FnMut() -> Q,
) -> Result<T, RecoveryError> {
    let mut backoff = Backoff::default();
    loop {
        match question().await {
            Ok(answer) => {
                entity.store_is_up();
                return Ok(answer);
            }
            Err(error @ StoreError::Unavailable { .. }) => {
                entity.store_is_down(error, now());
                backoff.wait().await;
            }
            Err(error) => {
                let seq = match &error {
                    StoreError::Corrupt { seq, .. } => *seq,
                    _ => Seq::ZERO,
                };
                let (entity, why) = (entity.id.clone(), RecoveryFault::Store(error));
                return Err(RecoveryError { entity, seq, why });
            }
        }
    }
}
