//! How the state of an entity is made again of what is stored.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::mem::replace;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use coact_core::Broken;
use coact_core::behaviour::NotCommitted;
use coact_core::internals::{catch, drop_quietly};
use coact_core::runtime::spawn_future;
use coact_persist::{
    Claim, EntityId, EventHash, FormatError, Seq, Snapshot, StoreError, StoredEvent, read,
};

use crate::access::{Backoff, ask, lock};
use crate::entity::{Entity, Place};
use crate::event_sourced::EventSourced;
use crate::outgoing::{first_number, now};
use crate::owner::{Owner, Recovering};
use crate::recovered::{Answers, Kept, Pending, Recovered, Timers};
use crate::snapshots::Snapshots;

/// How many events are read at once.
const PAGE: usize = 256;

type Slot<E> = Mutex<Option<Recovered<E>>>;

/// A recovery that is under way, or its result, until that is taken. It ends when this is dropped.
pub(crate) struct Recovery<E> {
    slot: Option<Arc<Slot<E>>>,
    owner: Arc<Owner>,
}

impl<E: EventSourced> Recovery<E> {
    /// Begins one, for an owner with this place.
    pub(crate) fn begin(owner: &Arc<Owner>, place: Arc<Place>) -> Self {
        let slot = Arc::default();
        let run = recover::<E>(owner.begin_recovery(), place, Arc::downgrade(&slot));
        drop(spawn_future(run));
        Self { slot: Some(slot), owner: Arc::clone(owner) }
    }
}

impl<E> Recovery<E> {
    /// Returns the result, if it is there.
    pub(crate) fn result(&self) -> MutexGuard<'_, Option<Recovered<E>>> {
        let slot = self.slot.as_ref().expect("it is there until this is dropped");
        lock(slot)
    }
}

impl<E> Drop for Recovery<E> {
    fn drop(&mut self) {
        let slot = self.slot.take();
        drop_quietly(move || drop(slot));
        // It may wait for what another one has by now, or for what is on its way.
        self.owner.entity.wake_all();
        self.owner.wake_all();
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
    /// The latest snapshot, which is up to this event, or the state cannot be read, nor can it be made of the events: some of those that it has in
    /// it are not stored (any more).
    Snapshot(FormatError),
    /// The program has no [snapshots](EventSourced::snapshots), and there is one that has events in it which are not stored any more.
    NoSnapshots,
    /// [`EventSourced::apply`], or what else of the program makes a state, has panicked.
    Panicked(Arc<str>),
    /// The latest snapshot is that of an event behind the last one: events that were stored are missing, or it was changed.
    SnapshotAhead {
        /// The last event.
        last: Seq,
    },
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
            RecoveryFault::Snapshot(error) => write!(
                f,
                "the snapshot up to it, or the state, cannot be read, and not all events before are stored: {error}"
            ),
            RecoveryFault::NoSnapshots => f.write_str(
                "a snapshot has the events up to it, which are not stored any more, and `EventSourced::snapshots` says that \
                 there are none",
            ),
            RecoveryFault::Panicked(message) => write!(f, "the program panicked when it made the state: {message}"),
            RecoveryFault::SnapshotAhead { last } => {
                write!(f, "there is a snapshot up to it, and the last event is {last}")
            }
            // (Without the entity and the event, which it names too.)
            RecoveryFault::Store(StoreError::Corrupt { why, .. }) => f.write_str(why),
            RecoveryFault::Store(StoreError::Damaged { why }) => f.write_str(why),
            RecoveryFault::Store(error) => return Display::fmt(error, f),
        }?;
        f.write_str(". Nothing stored was changed")?;
        if self.is_damage() { f.write_str("; restore it from a backup") } else { Ok(()) }
    }
}

/// It has no source: its text has that of the reason, and what follows from there would be told twice.
impl Error for RecoveryError {}

impl RecoveryError {
    /// Whether what is stored is not what was stored, so that no program can read it.
    fn is_damage(&self) -> bool {
        use RecoveryFault::{Format, NoSnapshots, Panicked, Snapshot};
        !matches!(self.why, Format(_) | Snapshot(_) | NoSnapshots | Panicked(_))
    }
}

/// Recovers an entity for an owner. Waits for the one before, and for what is on its way, and as long as the store
/// cannot be reached.
async fn recover<E: EventSourced>(recovering: Recovering, place: Arc<Place>, slot: Weak<Slot<E>>) {
    let owner = Arc::clone(&recovering.owner);
    let is_wanted = || slot.strong_count() > 0;
    if !owner.take_over(&place, is_wanted).await {
        return recovering.end();
    }
    let permit = owner.entity.access.may_recover().await;
    let recovered = History::read::<E>(&owner).await;
    drop(permit);
    owner.entity.was_read(recovered.as_ref().err().is_none_or(RecoveryError::is_damage));
    match recovered {
        Ok(recovered) => {
            if let Some(slot) = slot.upgrade() {
                *lock(&slot) = Some(recovered);
            } else {
                drop_quietly(move || drop(recovered));
            }
        }
        Err(error) => {
            tracing::error!("{error}");
            owner.end(NotCommitted::new(error));
        }
    }
    recovering.end();
    // (If the owner is gone, the next one has waited until here: two claims at once might come in the wrong order.)
    drop(place);
}

/// What was read of an entity up to some event.
struct History<'a> {
    entity: &'a Entity,
    last: Seq,
    hash: EventHash,
}

impl History<'_> {
    async fn read<E: EventSourced>(owner: &Arc<Owner>) -> Result<Recovered<E>, RecoveryError> {
        let mut claimed = claim(owner).await?;
        loop {
            match Self::read_claimed(owner, &claimed).await {
                // It may be as another owner has made it meanwhile, and be sound: its epoch says whether there was one.
                Err(error) if error.is_damage() => {
                    let before = replace(&mut claimed, claim(owner).await?);
                    if claimed.epoch <= before.epoch.next() {
                        return Err(error);
                    }
                }
                read => return read,
            }
        }
    }

    async fn read_claimed<E: EventSourced>(
        owner: &Arc<Owner>,
        claim: &Claim,
    ) -> Result<Recovered<E>, RecoveryError> {
        let entity = &owner.entity;
        let mut history = History { entity, last: Seq::ZERO, hash: EventHash::of(&entity.id) };
        let Begun { state, mut passed_over } = history.begin::<E>(claim)?;
        let mut state = Quiet(Some(state));
        let last = history.last;
        let mut snapshots = Kept { last, tried: last, bytes: 0 };
        while history.last < claim.last {
            let events = page(owner, history.last).await?;
            if let Some(why) = passed_over.take() {
                if events.first().is_none_or(|event| event.seq != history.last.next()) {
                    return Err(why);
                }
                if let RecoveryFault::Snapshot(why) = why.why {
                    tracing::warn!(entity = %entity.id, %why, "a snapshot is passed over for all events");
                }
            }
            if events.is_empty() {
                return Err(history.fault(RecoveryFault::Missing { found: None }));
            }
            for event in events {
                // What comes behind the claim is of another owner, and this one is about to be fenced.
                if history.last == claim.last {
                    break;
                }
                snapshots.bytes += event.event.payload.len() as u64;
                history.add(&mut state, &event)?;
            }
        }
        if (history.last, history.hash) != (claim.last, claim.hash) {
            return Err(history.fault(RecoveryFault::OtherHash));
        }
        let (last, hash) = (history.last, history.hash);
        let state = state.0.take().expect("it is there until here");
        Ok(Recovered {
            state,
            epoch: claim.epoch,
            last,
            hash,
            snapshots,
            sent: first_number(now()),
            timers: Timers::default(),
            answers: Answers::default(),
            pending: Pending::default(),
        })
    }

    /// Begins with the snapshot, if there is one that this program takes, and can read.
    fn begin<E: EventSourced>(&mut self, claim: &Claim) -> Result<Begun<E>, RecoveryError> {
        let snapshots = self.guarded(E::snapshots)?;
        let why = match (&claim.snapshot, snapshots) {
            (Some(snapshot), Some(snapshots)) => {
                match self.begin_with(snapshot, &snapshots, claim.last)? {
                    Ok(state) => return Ok(Begun { state, passed_over: None }),
                    Err(error) => Some((snapshot.seq, RecoveryFault::Snapshot(error))),
                }
            }
            (Some(snapshot), None) => Some((snapshot.seq, RecoveryFault::NoSnapshots)),
            (None, _) => None,
        };
        let passed_over = why.map(|(seq, why)| self.fault_at(seq, why));
        let state = self.guarded(|| E::new(&self.entity.id))?;
        Ok(Begun { state, passed_over })
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
        let state = self.guarded(|| (snapshots.read)(&snapshot.state))?;
        if state.is_ok() {
            (self.last, self.hash) = (snapshot.seq, snapshot.hash);
        }
        Ok(state)
    }

    fn add<E: EventSourced>(
        &mut self,
        state: &mut Quiet<E>,
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
            state.0.iter_mut().for_each(|state| state.apply(&event));
            Ok(())
        })?;
        applied.map_err(|error| self.fault(RecoveryFault::Format(error)))?;
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
        self.fault_at(self.last.next(), why)
    }

    fn fault_at(&self, seq: Seq, why: RecoveryFault) -> RecoveryError {
        RecoveryError { entity: self.entity.id.clone(), seq, why }
    }
}

/// A state that has what is in a snapshot, or nothing yet.
struct Begun<E> {
    state: E,
    /// Why not what is in the snapshot.
    passed_over: Option<RecoveryError>,
}

/// A state that is dropped without a panic, if it is not taken.
struct Quiet<E>(Option<E>);

impl<E> Drop for Quiet<E> {
    fn drop(&mut self) {
        let state = self.0.take();
        drop_quietly(move || drop(state));
    }
}

async fn claim(owner: &Arc<Owner>) -> Result<Claim, RecoveryError> {
    let (store, id) = (owner.entity.access.store(), &owner.entity.id);
    again_while_down(owner, || ask(|done| store.claim(id.clone(), done))).await
}

async fn page(owner: &Arc<Owner>, last: Seq) -> Result<Vec<StoredEvent>, RecoveryError> {
    let (store, id) = (owner.entity.access.store(), &owner.entity.id);
    again_while_down(owner, || ask(move |done| store.events(id.clone(), last, PAGE, done))).await
}

/// Asks a store until it answers.
async fn again_while_down<T, Q: Future<Output = Result<T, StoreError>>>(
    owner: &Arc<Owner>,
    mut question: impl FnMut() -> Q,
) -> Result<T, RecoveryError> {
    let mut backoff = Backoff::default();
    loop {
        match question().await {
            Ok(answer) => {
                owner.goes_on();
                return Ok(answer);
            }
            Err(error @ StoreError::Unavailable { .. }) => {
                owner.waits_for(NotCommitted::new(error));
                backoff.wait().await;
            }
            Err(error) => {
                let seq = match &error {
                    StoreError::Corrupt { seq, .. } => *seq,
                    _ => Seq::ZERO,
                };
                let (entity, why) = (owner.entity.id.clone(), RecoveryFault::Store(error));
                return Err(RecoveryError { entity, seq, why });
            }
        }
    }
}
