//! A store in memory, for tests and for what need not outlive its process.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::commit::{Commit, CommitId, Outcome, Refusal, Settled};
use crate::entity::{EntityId, Epoch, Position, Seq};
use crate::error::StoreError;
use crate::record::{EventHash, LogEntry, Snapshot, StoredEvent};
use crate::store::{Claim, Done, Store};

/// A store in memory. Clones are the same store. Results are told before its methods return.
///
/// It can be told to [fail](Self::fail), so that programs can be tested with what a real store may do to them.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    entities: BTreeMap<EntityId, Entity>,
    /// The events of each kind, in the order of their commits.
    logs: HashMap<Arc<str>, Vec<(Position, EntityId, Seq)>>,
    decisions: HashMap<CommitId, Settled>,
    position: Position,
    faults: Option<Faults>,
}

/// Says what becomes of each operation.
type Faults = Arc<dyn Fn(&Operation<'_>) -> Fault + Send + Sync>;

#[derive(Default)]
struct Entity {
    epoch: Epoch,
    events: Vec<StoredEvent>,
    snapshot: Option<Snapshot>,
}

/// What a store is asked to do.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// [`Store::claim`].
    Claim(&'a EntityId),
    /// [`Store::events`].
    Events(&'a EntityId),
    /// [`Store::log`].
    Log(&'a str),
    /// [`Store::commit`].
    Commit(&'a Commit),
    /// [`Store::settle`].
    Settle(CommitId),
}

/// What becomes of it.
#[derive(Clone, Debug)]
pub enum Fault {
    /// It is done.
    None,
    /// It is not done, and that is told.
    Unavailable,
    /// A commit is stored, but its answer is lost: the outcome is unknown. Else as [`Unavailable`](Self::Unavailable).
    AnswerLost,
    /// A commit is on its way, and its outcome unknown, until it is let through. Else as
    /// [`Unavailable`](Self::Unavailable).
    InTransit(InTransit),
}

/// Commits that are on their way to a store.
#[derive(Clone, Debug, Default)]
pub struct InTransit(Arc<Mutex<Vec<Commit>>>);

impl InTransit {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets them through, in their order. Returns what becomes of each, which is told to no other.
    pub fn let_through(&self, store: &MemoryStore) -> Vec<Outcome> {
        let held = std::mem::take(&mut *lock(&self.0));
        held.into_iter().map(|commit| store.state().commit(&commit)).collect()
    }
}

impl MemoryStore {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Has it fail from now on as a function says, which is called for each operation, by several threads at once.
    pub fn fail(&self, faults: impl Fn(&Operation<'_>) -> Fault + Send + Sync + 'static) {
        let before = self.state().faults.replace(Arc::new(faults));
        drop(before);
    }

    /// Has it fail no more.
    pub fn heal(&self) {
        let before = self.state().faults.take();
        drop(before);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }

    /// What is to become of an operation. (The function is not called under the lock: it may use the store.)
    fn fault(&self, operation: &Operation<'_>) -> Fault {
        let faults = self.state().faults.clone();
        faults.map_or(Fault::None, |faults| faults(operation))
    }

    /// Whether an operation that is no commit is to be done.
    fn check(&self, operation: &Operation<'_>) -> Result<(), StoreError> {
        match self.fault(operation) {
            Fault::None => Ok(()),
            Fault::Unavailable | Fault::AnswerLost | Fault::InTransit(_) => Err(unavailable()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Each change is made in one go: it is sound after a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unavailable() -> StoreError {
    StoreError::Unavailable { why: "it was told to fail".into() }
}

impl Store for MemoryStore {
    fn claim(&self, entity: EntityId, done: Done<Result<Claim, StoreError>>) {
        let claimed = self.check(&Operation::Claim(&entity)).map(|()| self.state().claim(entity));
        done(claimed);
    }

    fn events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: Done<Result<Vec<StoredEvent>, StoreError>>,
    ) {
        let read = self.check(&Operation::Events(&entity)).map(|()| {
            let state = self.state();
            let events = state.entities.get(&entity).map(|entity| &entity.events[..]);
            let first = usize::try_from(after.get()).unwrap_or(usize::MAX);
            events.unwrap_or_default().iter().skip(first).take(most).cloned().collect()
        });
        done(read);
    }

    fn log(
        &self,
        kind: Arc<str>,
        after: Position,
        most: usize,
        done: Done<Result<Vec<LogEntry>, StoreError>>,
    ) {
        let read =
            self.check(&Operation::Log(&kind)).map(|()| self.state().log(&kind, after, most));
        done(read);
    }

    fn commit(&self, commit: Commit, done: Done<Outcome>) {
        let outcome = match self.fault(&Operation::Commit(&commit)) {
            Fault::None => self.state().commit(&commit),
            Fault::Unavailable => Outcome::Refused(Refusal::Store(unavailable())),
            Fault::AnswerLost => {
                self.state().commit(&commit);
                Outcome::Unknown(unavailable())
            }
            Fault::InTransit(held) => {
                lock(&held.0).push(commit);
                Outcome::Unknown(unavailable())
            }
        };
        done(outcome);
    }

    fn settle(&self, commit: CommitId, done: Done<Result<Settled, StoreError>>) {
        let settled = self
            .check(&Operation::Settle(commit))
            .map(|()| *self.state().decisions.entry(commit).or_insert(Settled::Aborted));
        done(settled);
    }
}

impl State {
    fn claim(&mut self, id: EntityId) -> Claim {
        let empty = EventHash::of(&id);
        let entity = self.entities.entry(id).or_default();
        entity.epoch = entity.epoch.next();
        Claim {
            epoch: entity.epoch,
            last: entity.last(),
            hash: entity.events.last().map_or(empty, |event| event.hash),
            snapshot: entity.snapshot.clone(),
        }
    }

    fn log(&self, kind: &str, after: Position, most: usize) -> Vec<LogEntry> {
        let log = self.logs.get(kind).map_or(&[][..], |log| &log[..]);
        let first = log.partition_point(|(position, ..)| *position <= after);
        let rest = &log[first..];
        // Up to the end of the commit that the last of them is in.
        let most = most.max(1).min(rest.len());
        let last = rest.get(most.wrapping_sub(1)).map(|(position, ..)| *position);
        let len = last.map_or(0, |last| rest.partition_point(|(position, ..)| *position <= last));
        let entry = |(_, entity, seq): &(Position, EntityId, Seq)| {
            let stored = self.entities[entity].events[seq.get() as usize - 1].clone();
            LogEntry { entity: entity.clone(), stored }
        };
        rest[..len].iter().map(entry).collect()
    }

    fn commit(&mut self, commit: &Commit) -> Outcome {
        match self.decisions.get(&commit.id()) {
            Some(Settled::Committed(position)) => return Outcome::Committed(*position),
            Some(Settled::Aborted) => return Outcome::Refused(Refusal::Aborted),
            None => {}
        }
        if let Some(refusal) = commit.members().find_map(|(id, member)| {
            let (owner, found) = self
                .entities
                .get(id)
                .map_or((Epoch::ZERO, Seq::ZERO), |entity| (entity.epoch, entity.last()));
            member.check(id, owner, found)
        }) {
            return Outcome::Refused(refusal);
        }
        self.position = self.position.next();
        let position = self.position;
        for (id, member) in commit.members() {
            if member.last() > member.after() {
                let log = self.logs.entry(id.kind().into()).or_default();
                log.extend(member.events().map(|(seq, ..)| (position, id.clone(), seq)));
            }
            let entity = self.entities.entry(id.clone()).or_default();
            entity.events.extend(member.events().map(|(seq, event, hash)| StoredEvent {
                seq,
                event: event.clone(),
                hash,
                position,
            }));
            if let Some(snapshot) = member.written_snapshot() {
                entity.snapshot = Some(snapshot.clone());
            }
        }
        self.decisions.insert(commit.id(), Settled::Committed(position));
        Outcome::Committed(position)
    }
}

impl Entity {
    fn last(&self) -> Seq {
        Seq::new(self.events.len() as u64)
    }
}

impl Debug for MemoryStore {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("MemoryStore")
            .field("entities", &state.entities.len())
            .field("commits", &state.position)
            .finish()
    }
}
