//! A store in memory, for tests and for entities that need not outlive the process.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt::{self, Debug, Formatter};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::commit::{
    Commit, CommitId, CommitMember, CommitRefusal, CommitSettlement, StoreOutcome,
};
use crate::entity::{EntityId, Epoch, Position, Seq};
use crate::error::StoreError;
use crate::note::{Note, NoteChange, NoteId, NoteKey, NoteKind, NoteQuery};
use crate::record::{EntitySummary, Event, EventHash, LogEntry, LogQuery, Snapshot, StoredEvent};
use crate::store::{Claim, Store, StoreCallback, StoreReader};
use crate::tags::Tags;

/// A store in memory. Clones are the same store. Its methods call back before they return. It keeps
/// notes without [sums](Note::sum), since nothing damages them here.
///
/// It can be made to [fail](Self::fail), to test programs with the failures of a real store.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<MemoryState>>);

#[derive(Default)]
struct MemoryState {
    entities: BTreeMap<EntityId, MemoryEntity>,
    /// The events of each kind, and those with each tag.
    logs: HashMap<Arc<str>, MemoryLog>,
    tagged: HashMap<Arc<str>, MemoryLog>,
    notes: BTreeMap<NotePlace, (u64, Event)>,
    ranks: BTreeSet<(NoteKind, u64, EntityId, NoteKey)>,
    decisions: HashMap<CommitId, CommitSettlement>,
    position: Position,
    faults: Option<FaultPlan>,
}

/// Chooses the fault of each operation.
type FaultPlan = Arc<dyn Fn(&StoreOperation<'_>) -> StoreFault + Send + Sync>;

/// Events in the order of their commits, and those of a commit by entity.
type MemoryLog = BTreeMap<Position, Vec<LogEntry>>;

/// The key of a note.
type NotePlace = (EntityId, NoteKind, NoteKey);

struct MemoryEntity {
    epoch: Epoch,
    last: Seq,
    hash: EventHash,
    /// Those that were not trimmed.
    events: VecDeque<StoredEvent>,
    /// Two at most, the latest first.
    snapshots: Vec<Snapshot>,
}

/// An operation of a store.
#[derive(Clone, Copy, Debug)]
pub enum StoreOperation<'a> {
    /// [`Store::claim`].
    Claim(&'a EntityId),
    /// [`StoreReader::events`].
    Events(&'a EntityId),
    /// [`StoreReader::snapshots`].
    Snapshots(&'a EntityId),
    /// [`StoreReader::notes`].
    Notes(&'a NoteQuery),
    /// [`StoreReader::log`].
    Log(&'a LogQuery),
    /// [`StoreReader::entities`].
    Entities,
    /// [`StoreReader::position`].
    Position,
    /// [`Store::commit`].
    Commit(&'a Commit),
    /// [`Store::settle`].
    Settle(CommitId),
}

/// What an operation of a [`MemoryStore`] is to suffer.
#[derive(Clone, Debug)]
pub enum StoreFault {
    /// It is done.
    None,
    /// It fails, and has not happened.
    Unavailable,
    /// A commit is stored, but its answer is lost: the outcome is unknown. Other operations fail as
    /// with [`Unavailable`](Self::Unavailable).
    AnswerLost,
    /// A commit is in transit, and its outcome unknown, until it is let through. Other operations
    /// fail as with [`Unavailable`](Self::Unavailable).
    InTransit(InTransit),
}

/// Commits in transit to a store.
#[derive(Clone, Debug, Default)]
pub struct InTransit(Arc<Mutex<Vec<Commit>>>);

impl InTransit {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets them through, in order. Returns the outcome of each, which nothing else learns.
    pub fn let_through(&self, store: &MemoryStore) -> Vec<StoreOutcome> {
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

    /// Has it fail from now on as a function says, which is called for each operation, by several
    /// threads at once.
    pub fn fail(&self, faults: impl Fn(&StoreOperation<'_>) -> StoreFault + Send + Sync + 'static) {
        let before = self.state().faults.replace(Arc::new(faults));
        drop(before);
    }

    /// Has it fail no more.
    pub fn heal(&self) {
        let before = self.state().faults.take();
        drop(before);
    }

    fn state(&self) -> MutexGuard<'_, MemoryState> {
        lock(&self.0)
    }

    /// What is to become of an operation. (The function is not called under the lock: it may use
    /// the store.)
    fn fault(&self, operation: &StoreOperation<'_>) -> StoreFault {
        let faults = self.state().faults.clone();
        faults.map_or(StoreFault::None, |faults| faults(operation))
    }

    /// Whether an operation that is no commit is to be done.
    fn check(&self, operation: &StoreOperation<'_>) -> Result<(), StoreError> {
        match self.fault(operation) {
            StoreFault::None => Ok(()),
            StoreFault::Unavailable | StoreFault::AnswerLost | StoreFault::InTransit(_) => {
                Err(unavailable())
            }
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

impl StoreReader for MemoryStore {
    fn events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
    ) {
        let read = self.check(&StoreOperation::Events(&entity)).map(|()| {
            let state = self.state();
            let events = state.entities.get(&entity).map(|entity| entity.events_after(after));
            events.into_iter().flatten().take(most).cloned().collect()
        });
        done(read);
    }

    fn snapshots(&self, entity: EntityId, done: StoreCallback<Result<Vec<Snapshot>, StoreError>>) {
        let read = self.check(&StoreOperation::Snapshots(&entity)).map(|()| {
            let state = self.state();
            state.entities.get(&entity).map_or(Vec::new(), |entity| entity.snapshots.clone())
        });
        done(read);
    }

    fn notes(
        &self,
        which: NoteQuery,
        most: usize,
        done: StoreCallback<Result<Vec<Note>, StoreError>>,
    ) {
        let read =
            self.check(&StoreOperation::Notes(&which)).map(|()| self.state().notes(which, most));
        done(read);
    }

    fn log(
        &self,
        which: LogQuery,
        after: Position,
        most: usize,
        done: StoreCallback<Result<Vec<LogEntry>, StoreError>>,
    ) {
        let read = self
            .check(&StoreOperation::Log(&which))
            .map(|()| self.state().log(&which, after, most));
        done(read);
    }

    fn entities(
        &self,
        kind: Option<Arc<str>>,
        after: Option<EntityId>,
        most: usize,
        done: StoreCallback<Result<Vec<EntitySummary>, StoreError>>,
    ) {
        let read = self
            .check(&StoreOperation::Entities)
            .map(|()| self.state().list(kind.as_deref(), after, most));
        done(read);
    }

    fn position(&self, done: StoreCallback<Result<Position, StoreError>>) {
        let read = self.check(&StoreOperation::Position).map(|()| self.state().position);
        done(read);
    }
}

impl Store for MemoryStore {
    fn claim(&self, entity: EntityId, done: StoreCallback<Result<Claim, StoreError>>) {
        let claimed =
            self.check(&StoreOperation::Claim(&entity)).map(|()| self.state().claim(entity));
        done(claimed);
    }

    fn commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        let outcome = match self.fault(&StoreOperation::Commit(&commit)) {
            StoreFault::None => self.state().commit(&commit),
            StoreFault::Unavailable => StoreOutcome::Refused(CommitRefusal::Store(unavailable())),
            StoreFault::AnswerLost => {
                self.state().commit(&commit);
                StoreOutcome::Unknown(unavailable())
            }
            StoreFault::InTransit(held) => {
                lock(&held.0).push(commit);
                StoreOutcome::Unknown(unavailable())
            }
        };
        done(outcome);
    }

    fn settle(&self, commit: CommitId, done: StoreCallback<Result<CommitSettlement, StoreError>>) {
        let settled = self
            .check(&StoreOperation::Settle(commit))
            .map(|()| *self.state().decisions.entry(commit).or_insert(CommitSettlement::Aborted));
        done(settled);
    }
}

impl MemoryState {
    fn entity(&mut self, id: &EntityId) -> &mut MemoryEntity {
        self.entities.entry(id.clone()).or_insert_with(|| MemoryEntity::new(id))
    }

    fn claim(&mut self, id: EntityId) -> Claim {
        let position = self.position;
        let entity = self.entity(&id);
        entity.epoch = entity.epoch.next();
        let MemoryEntity { epoch, last, hash, ref snapshots, .. } = *entity;
        Claim { epoch, last, hash, snapshot: snapshots.first().cloned(), position }
    }

    fn log(&self, which: &LogQuery, after: Position, most: usize) -> Vec<LogEntry> {
        let log = match which {
            LogQuery::Kind(kind) => self.logs.get(kind),
            LogQuery::Tag { tag, .. } => self.tagged.get(tag),
        };
        let is_meant = |entry: &&LogEntry| which.matches(&entry.entity, &entry.stored.tags);
        let mut read = Vec::new();
        let behind = (Bound::Excluded(after), Bound::Unbounded);
        for (_, commit) in log.into_iter().flat_map(|log| log.range(behind)) {
            read.extend(commit.iter().filter(is_meant).cloned());
            if read.len() >= most {
                break;
            }
        }
        read
    }

    fn list(&self, kind: Option<&str>, after: Option<EntityId>, most: usize) -> Vec<EntitySummary> {
        let behind = after.map_or(Bound::Unbounded, Bound::Excluded);
        let behind = self.entities.range((behind, Bound::Unbounded));
        let is_meant = |id: &EntityId| kind.is_none_or(|kind| id.kind() == kind);
        let has_notes = |id: &EntityId| {
            !self.notes(NoteQuery::Of { entity: id.clone(), after: None }, 1).is_empty()
        };
        behind
            .filter(|(id, entity)| is_meant(id) && (entity.last > Seq::ZERO || has_notes(id)))
            .take(most)
            .map(|(id, entity)| {
                let MemoryEntity { epoch, last, hash, .. } = *entity;
                EntitySummary { id: id.clone(), epoch, last, hash }
            })
            .collect()
    }

    fn notes(&self, which: NoteQuery, most: usize) -> Vec<Note> {
        match which {
            NoteQuery::One { entity, kind, key } => {
                let id = (entity, kind, key);
                let found = self.notes.get_key_value(&id).map(note);
                found.into_iter().take(most).collect()
            }
            NoteQuery::Of { entity, after } => {
                let first = match after {
                    Some((kind, key)) => Bound::Excluded((entity.clone(), kind, key)),
                    None => {
                        let key = NoteKey::new([]);
                        Bound::Included((entity.clone(), NoteKind::ALL[0], key))
                    }
                };
                let behind = self.notes.range((first, Bound::Unbounded)).map(note);
                behind.take_while(|note| note.entity == entity).take(most).collect()
            }
            NoteQuery::Ranked { kind, after, up_to } => {
                // (No rank here is damaged.)
                let after = after.filter(|(rank, ..)| !rank.cast_signed().is_negative());
                let first = match after {
                    Some((rank, entity, key)) => Bound::Excluded((kind, rank, entity, key)),
                    None => Bound::Included((kind, 0, EntityId::new("", ""), NoteKey::new([]))),
                };
                let behind = self.ranks.range((first, Bound::Unbounded));
                behind
                    .take_while(|(of, rank, ..)| *of == kind && *rank <= up_to)
                    .take(most)
                    .filter_map(|(_, _, entity, key)| {
                        let id = (entity.clone(), kind, key.clone());
                        self.notes.get_key_value(&id).map(note)
                    })
                    .collect()
            }
        }
    }

    fn commit(&mut self, commit: &Commit) -> StoreOutcome {
        if commit.is_check() {
            let refused = self.refuses(commit);
            return refused.map_or(StoreOutcome::Committed(self.position), StoreOutcome::Refused);
        }
        match self.decisions.get(&commit.id()) {
            Some(CommitSettlement::Committed(position)) => {
                return StoreOutcome::Committed(*position);
            }
            Some(CommitSettlement::Aborted) => {
                return StoreOutcome::Refused(CommitRefusal::Aborted);
            }
            None => {}
        }
        if let Some(refusal) = self.refuses(commit) {
            return StoreOutcome::Refused(refusal);
        }
        let is_there = |id: &NoteId| {
            let found = self.notes.get(&(id.entity.clone(), id.kind, id.key.clone()));
            found.is_some_and(|(rank, _)| *rank == id.rank)
        };
        if let Some(gone) = commit.taken().iter().find(|id| !is_there(id)) {
            return StoreOutcome::Refused(CommitRefusal::Gone(gone.clone()));
        }
        self.position = self.position.next();
        let position = self.position;
        for NoteId { entity, kind, key, .. } in commit.taken() {
            self.change(entity, &NoteChange::Remove { kind: *kind, key: key.clone() });
        }
        commit.members().for_each(|(id, member)| self.write(id, member, position));
        for Note { entity, kind, key, rank, value } in commit.left() {
            if self.entities.contains_key(entity) {
                let (key, value) = (key.clone(), value.clone());
                self.change(entity, &NoteChange::Put { kind: *kind, key, rank: *rank, value });
            }
        }
        self.decisions.insert(commit.id(), CommitSettlement::Committed(position));
        StoreOutcome::Committed(position)
    }

    /// Why a commit is refused for the sake of a member, if it is.
    fn refuses(&self, commit: &Commit) -> Option<CommitRefusal> {
        commit.members().find_map(|(id, member)| match self.entities.get(id) {
            Some(found) => member.check(id, found.epoch, (found.last, found.hash)),
            None => member.check(id, Epoch::ZERO, (Seq::ZERO, EventHash::of(id))),
        })
    }

    fn write(&mut self, id: &EntityId, member: &CommitMember, position: Position) {
        if member.deletes() {
            return self.delete(id);
        }
        let has_tags = member.tags().next().is_some();
        let stored = |(seq, event, hash): (Seq, &Event, EventHash)| StoredEvent {
            seq,
            event: event.clone(),
            hash,
            position,
            tags: if has_tags { member.tags_of(seq) } else { Tags::NONE },
        };
        let events: Vec<_> = member.events().map(stored).collect();
        if !events.is_empty() {
            let entry = |stored| LogEntry { entity: id.clone(), stored };
            let log = self.logs.entry(id.kind().into()).or_default();
            log.entry(position).or_default().extend(events.iter().cloned().map(entry));
        }
        for event in events.iter().filter(|_| has_tags) {
            for tag in event.tags.iter() {
                let entry = LogEntry { entity: id.clone(), stored: event.clone() };
                let log = self.tagged.entry(Arc::clone(tag)).or_default();
                log.entry(position).or_default().push(entry);
            }
        }
        let entity = self.entity(id);
        entity.events.extend(events);
        if let Some((last, hash)) = member.moved_to() {
            (entity.last, entity.hash) = (last, hash);
        }
        if let Some(snapshot) = member.written_snapshot() {
            let is_kept = |kept: &Snapshot| kept.seq < snapshot.seq && !member.replaces();
            entity.snapshots.retain(is_kept);
            entity.snapshots.insert(0, snapshot.clone());
            entity.snapshots.truncate(2);
        }
        self.trim(id, member.trimmed());
        member.notes().iter().for_each(|change| self.change(id, change));
    }

    fn change(&mut self, id: &EntityId, change: &NoteChange) {
        let (kind, key) = match change {
            NoteChange::Put { kind, key, .. } | NoteChange::Remove { kind, key } => (*kind, key),
        };
        if let Some((rank, _)) = self.notes.remove(&(id.clone(), kind, key.clone())) {
            self.ranks.remove(&(kind, rank, id.clone(), key.clone()));
        }
        if let NoteChange::Put { rank, value, .. } = change {
            self.notes.insert((id.clone(), kind, key.clone()), (*rank, value.clone()));
            self.ranks.insert((kind, *rank, id.clone(), key.clone()));
        }
    }

    /// Removes the events of an entity up to this one.
    fn trim(&mut self, id: &EntityId, last: Seq) {
        let Some(entity) = self.entities.get_mut(id) else { return };
        while let Some(event) = entity.events.pop_front_if(|event| event.seq <= last) {
            let old = (id, event.position, last);
            forget(&mut self.logs, id.kind(), old);
            event.tags.iter().for_each(|tag| forget(&mut self.tagged, tag, old));
        }
    }

    fn delete(&mut self, id: &EntityId) {
        self.trim(id, Seq::new(u64::MAX));
        // (Kinds are ordered: outgoing ones are the first.)
        let mut behind = None;
        while let Some(note) =
            self.notes(NoteQuery::Of { entity: id.clone(), after: behind.clone() }, 1).pop()
        {
            if note.kind == NoteKind::Outgoing {
                behind = Some((note.kind, note.key));
            } else {
                self.change(id, &NoteChange::Remove { kind: note.kind, key: note.key });
            }
        }
        let entity = self.entity(id);
        *entity = MemoryEntity { epoch: entity.epoch, ..MemoryEntity::new(id) };
    }
}

/// Removes the events of an entity in a commit from a log, up to the last one.
fn forget(
    logs: &mut HashMap<Arc<str>, MemoryLog>,
    log: &str,
    (id, position, last): (&EntityId, Position, Seq),
) {
    let Some(found) = logs.get_mut(log) else { return };
    let Some(commit) = found.get_mut(&position) else { return };
    commit.retain(|entry| entry.entity != *id || entry.stored.seq > last);
    if commit.is_empty() {
        found.remove(&position);
    }
    if found.is_empty() {
        logs.remove(log);
    }
}

fn note(((entity, kind, key), (rank, value)): (&NotePlace, &(u64, Event))) -> Note {
    let (entity, key, value) = (entity.clone(), key.clone(), value.clone());
    Note { entity, kind: *kind, key, rank: *rank, value }
}

impl MemoryEntity {
    fn new(id: &EntityId) -> Self {
        Self {
            epoch: Epoch::ZERO,
            last: Seq::ZERO,
            hash: EventHash::of(id),
            events: VecDeque::new(),
            snapshots: Vec::new(),
        }
    }

    fn events_after(&self, seq: Seq) -> impl Iterator<Item = &StoredEvent> {
        let first = self.events.partition_point(|event| event.seq <= seq);
        self.events.range(first..)
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
