//! Plans a transaction: applies requests in order to the entities that were looked up. No I/O.

use std::collections::{BTreeMap, HashMap};

use coact_persist::{
    Claim, Commit, CommitId, CommitMember, CommitRefusal, CommitSettlement, EntityId, Epoch, Event,
    EventHash, Note, NoteChange, NoteId, NoteKey, NoteKind, Position, Seq, Snapshot, Tags,
};

use crate::entity_cache::EntityRow;
use crate::request::WriteRequest;

/// How many snapshots of an entity a store keeps.
pub(crate) const SNAPSHOTS: usize = 2;

/// After any event.
const ALL: Seq = Seq::new(i64::MAX as u64);

/// The state of a transaction.
#[derive(Default)]
pub(crate) struct TransactionPlan<'a> {
    /// By place. `None` if an entity does not exist.
    pub(crate) entities: Vec<Option<PlannedEntity>>,
    /// The events to insert, in the order of commits.
    pub(crate) events: Vec<NewEvent<'a>>,
    /// The decisions that were looked up. `None` without a lookup: then the unique index of
    /// decisions finds duplicates.
    pub(crate) decisions: Option<HashMap<CommitId, CommitDecision>>,
    /// The ranks of the notes that commits take, as far as they exist.
    pub(crate) found_notes: HashMap<NotePlace, u64>,
    /// The commits to store, in order.
    pub(crate) stored: Vec<CommitId>,
    /// The commits to settle as aborted.
    pub(crate) aborted: Vec<CommitId>,
    /// The position of the last commit before the transaction, if it was looked up.
    pub(crate) position: Option<Position>,
}

/// Identifies a note: the place of its entity, its kind and its key.
pub(crate) type NotePlace = (usize, NoteKind, NoteKey);

/// The decision on a commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommitDecision {
    /// An earlier transaction decided.
    Before(CommitSettlement),
    /// This transaction stores it, as its n-th commit, from 1 on.
    Stored(u64),
    /// This transaction aborts it.
    Aborted,
}

/// The answer to a request if the transaction commits.
#[derive(Debug)]
pub(crate) enum WriteAnswer {
    /// The claim without its position, and the number of commits before it in this transaction.
    Claim(Claim, u64),
    Commit(Result<CommitDecision, CommitRefusal>),
    /// The number of commits before it in this transaction.
    Check(Result<u64, CommitRefusal>),
    Settle(CommitDecision),
}

/// An entity as it was looked up, and the changes to it.
pub(crate) struct PlannedEntity {
    pub(crate) row: EntityRow,
    /// Whether `row` has changed.
    pub(crate) is_moved: bool,
    /// The latest stored snapshot, if it was looked up.
    pub(crate) found_snapshot: Option<Snapshot>,
    /// The last stored event to delete.
    pub(crate) trimmed: Seq,
    /// The first stored snapshot to delete.
    pub(crate) replaced_snapshots: Option<Seq>,
    /// New snapshots, the latest first.
    pub(crate) snapshots: Vec<Snapshot>,
    /// Whether to delete its stored notes, except for messages to be delivered.
    pub(crate) forgets_notes: bool,
    /// Changed notes; `None` if a note is deleted.
    pub(crate) notes: BTreeMap<(NoteKind, NoteKey), Option<(u64, Event)>>,
}

/// An event to insert.
pub(crate) struct NewEvent<'a> {
    /// The place of its entity.
    pub(crate) place: usize,
    pub(crate) seq: Seq,
    /// The number of its commit in this transaction, from 1 on.
    pub(crate) commit: u64,
    pub(crate) hash: EventHash,
    pub(crate) event: &'a Event,
    pub(crate) tags: Tags,
}

impl PlannedEntity {
    pub(crate) fn new(row: EntityRow) -> Self {
        Self {
            row,
            is_moved: false,
            found_snapshot: None,
            trimmed: Seq::ZERO,
            replaced_snapshots: None,
            snapshots: Vec::new(),
            forgets_notes: false,
            notes: BTreeMap::new(),
        }
    }

    fn claim(&mut self) -> Claim {
        (self.row.epoch, self.is_moved) = (self.row.epoch.next(), true);
        let EntityRow { epoch, last, hash, .. } = self.row;
        let found = self.found_snapshot.as_ref().filter(|_| self.replaced_snapshots.is_none());
        let snapshot = self.snapshots.first().or(found).cloned();
        Claim { epoch, last, hash, snapshot, position: Position::ZERO }
    }

    /// Applies a member of a commit, except for its events.
    fn write(&mut self, id: &EntityId, member: &CommitMember) {
        if member.deletes() {
            return self.delete(id);
        }
        if let Some((last, hash)) = member.moved_to() {
            (self.row.last, self.row.hash, self.is_moved) = (last, hash, true);
        }
        if let Some(snapshot) = member.written_snapshot() {
            self.keep(snapshot, member.replaces());
        }
        self.trimmed = self.trimmed.max(member.trimmed());
        member.notes().iter().for_each(|change| self.change(change.clone()));
    }

    fn change(&mut self, note: NoteChange) {
        let (key, note) = match note {
            NoteChange::Put { kind, key, rank, value } => ((kind, key), Some((rank, value))),
            NoteChange::Remove { kind, key } => ((kind, key), None),
        };
        self.notes.insert(key, note);
    }

    /// The current rank of a note, given its stored one.
    fn rank_of(&self, note: &NoteId, found: Option<u64>) -> Option<u64> {
        match self.notes.get(&(note.kind, note.key.clone())) {
            Some(changed) => changed.as_ref().map(|(rank, _)| *rank),
            None if self.forgets_notes && note.kind != NoteKind::Outgoing => None,
            None => found,
        }
    }

    fn keep(&mut self, snapshot: &Snapshot, replaces: bool) {
        let from = if replaces { Seq::ZERO } else { snapshot.seq };
        self.replaced_snapshots =
            Some(self.replaced_snapshots.map_or(from, |before| before.min(from)));
        self.snapshots.retain(|kept| kept.seq < from);
        self.snapshots.insert(0, snapshot.clone());
        self.snapshots.truncate(SNAPSHOTS);
    }

    fn delete(&mut self, id: &EntityId) {
        self.trimmed = ALL;
        (self.replaced_snapshots, self.forgets_notes) = (Some(Seq::ZERO), true);
        self.snapshots.clear();
        self.notes.retain(|(kind, _), _| *kind == NoteKind::Outgoing);
        (self.row.last, self.row.hash) = (Seq::ZERO, EventHash::of(id));
        self.is_moved = true;
    }
}

impl<'a> TransactionPlan<'a> {
    /// Applies a request about the entities at these places.
    pub(crate) fn add(&mut self, asked: &'a WriteRequest, places: &[usize]) -> WriteAnswer {
        match asked {
            WriteRequest::Claim(..) => {
                let commits = self.commits();
                let entity = places.first().and_then(|place| self.entities[*place].as_mut());
                WriteAnswer::Claim(
                    entity.expect("it was made if it was not there").claim(),
                    commits,
                )
            }
            WriteRequest::Commit(commit, _) if commit.is_check() => {
                let refused = self.refuses(commit, places);
                WriteAnswer::Check(refused.map_or(Ok(self.commits()), Err))
            }
            WriteRequest::Commit(commit, _) => WriteAnswer::Commit(self.commit(commit, places)),
            WriteRequest::Settle(id, _) => WriteAnswer::Settle(self.settle(*id)),
        }
    }

    fn settle(&mut self, id: CommitId) -> CommitDecision {
        let decisions = self.decisions.get_or_insert_default();
        *decisions.entry(id).or_insert_with(|| {
            self.aborted.push(id);
            CommitDecision::Aborted
        })
    }

    fn commit(
        &mut self,
        commit: &'a Commit,
        places: &[usize],
    ) -> Result<CommitDecision, CommitRefusal> {
        match self.decisions.as_ref().and_then(|decisions| decisions.get(&commit.id())) {
            Some(CommitDecision::Before(CommitSettlement::Aborted) | CommitDecision::Aborted) => {
                return Err(CommitRefusal::Aborted);
            }
            Some(committed) => return Ok(*committed),
            None => {}
        }
        let (of_members, others) = places.split_at(commit.members().count());
        let (of_taken, of_left) = others.split_at(commit.taken().len());
        if let Some(refusal) = self.refuses(commit, of_members) {
            return Err(refusal);
        }
        let taken = || commit.taken().iter().zip(of_taken);
        if let Some((gone, _)) = taken().find(|(note, place)| !self.is_there(note, **place)) {
            return Err(CommitRefusal::Gone(gone.clone()));
        }
        self.stored.push(commit.id());
        for (NoteId { kind, key, .. }, place) in taken() {
            self.change(*place, NoteChange::Remove { kind: *kind, key: key.clone() });
        }
        for ((id, member), place) in commit.members().zip(of_members) {
            self.write(id, member, *place);
        }
        for (Note { kind, key, rank, value, .. }, place) in commit.left().iter().zip(of_left) {
            let (key, value) = (key.clone(), value.clone());
            self.change(*place, NoteChange::Put { kind: *kind, key, rank: *rank, value });
        }
        let decision = CommitDecision::Stored(self.commits());
        if let Some(decisions) = &mut self.decisions {
            decisions.insert(commit.id(), decision);
        }
        Ok(decision)
    }

    /// Returns why a member refuses the commit, if one does.
    fn refuses(&self, commit: &Commit, places: &[usize]) -> Option<CommitRefusal> {
        commit.members().zip(places).find_map(|((id, member), place)| {
            match self.entities[*place].as_ref().map(|found| found.row) {
                Some(found) => member.check(id, found.epoch, (found.last, found.hash)),
                None => member.check(id, Epoch::ZERO, (Seq::ZERO, EventHash::of(id))),
            }
        })
    }

    fn write(&mut self, id: &EntityId, member: &'a CommitMember, place: usize) {
        // (Only a member without an epoch passes for a missing entity, and its row has been made.)
        let Some(entity) = self.entities[place].as_mut() else { return };
        let commit = self.stored.len() as u64;
        self.events.extend(member.events().map(|(seq, event, hash)| {
            let tags = member.tags_of(seq);
            NewEvent { place, seq, commit, hash, event, tags }
        }));
        entity.write(id, member);
        // Events that come and go in the same transaction are never inserted.
        let gone = if member.deletes() { ALL } else { member.trimmed() };
        if gone > Seq::ZERO {
            self.events.retain(|event| event.place != place || event.seq > gone);
        }
    }

    /// The number of commits to store.
    pub(crate) fn commits(&self) -> u64 {
        self.stored.len() as u64
    }

    fn is_there(&self, note: &NoteId, place: usize) -> bool {
        let found = self.found_notes.get(&(place, note.kind, note.key.clone())).copied();
        let entity = self.entities[place].as_ref();
        entity.and_then(|entity| entity.rank_of(note, found)) == Some(note.rank)
    }

    /// Changes a note, if its entity exists.
    fn change(&mut self, place: usize, note: NoteChange) {
        if let Some(entity) = &mut self.entities[place] {
            entity.change(note);
        }
    }
}
