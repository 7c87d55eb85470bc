//! What a transaction does: all that was asked, one after the other, on what was found of the entities in it. No I/O.

use std::collections::{BTreeMap, HashMap, btree_map};

use coact_persist::{
    Claim, Commit, CommitId, EntityId, Epoch, Event, EventHash, Member, Note, NoteChange, NoteId,
    NoteKey, NoteKind, Refusal, Seq, Settled, Snapshot, Tags,
};

use crate::job::Write;

/// How many snapshots of an entity are kept.
pub(crate) const SNAPSHOTS: usize = 2;

/// The state of all that a transaction is about.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) entities: BTreeMap<EntityId, Entity>,
    pub(crate) decisions: HashMap<CommitId, Decision>,
    /// The ranks of those notes that commits take, if they were there.
    pub(crate) found_notes: HashMap<NotePlace, u64>,
    /// How many commits are stored.
    pub(crate) commits: u64,
}

/// By what a note is found.
pub(crate) type NotePlace = (EntityId, NoteKind, NoteKey);

/// Whether a commit has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    /// It was decided before.
    Before(Settled),
    /// It is that one of this transaction's, from 1 on.
    Stored(u64),
    /// This transaction aborts it.
    Aborted,
}

/// What has come of what was asked, if the transaction is committed.
#[derive(Debug)]
pub(crate) enum Answer {
    Claim(Claim),
    Commit(Result<Decision, Refusal>),
    Settle(Decision),
}

/// An entity as it was found, and what becomes of it.
pub(crate) struct Entity {
    pub(crate) id: i64,
    pub(crate) kind: i32,
    pub(crate) epoch: Epoch,
    pub(crate) last: Seq,
    pub(crate) hash: EventHash,
    /// Whether one of these is another one now.
    pub(crate) is_moved: bool,
    /// The latest one that was found, if it was looked for.
    pub(crate) found_snapshot: Option<Snapshot>,
    /// Up to which number those events go that were found.
    pub(crate) trimmed: Seq,
    /// Each with the number of its commit in this transaction.
    pub(crate) events: Vec<NewEvent>,
    /// From which number on those snapshots go that were found.
    pub(crate) replaced_snapshots: Option<Seq>,
    /// The latest first.
    pub(crate) snapshots: Vec<Snapshot>,
    /// Whether those notes go that were found, but for messages that are to be delivered.
    pub(crate) forgets_notes: bool,
    /// `None` if one is removed.
    pub(crate) notes: BTreeMap<(NoteKind, NoteKey), Option<(u64, Event)>>,
}

/// An event that is stored.
pub(crate) struct NewEvent {
    pub(crate) seq: Seq,
    pub(crate) commit: u64,
    pub(crate) hash: EventHash,
    pub(crate) event: Event,
    pub(crate) tags: Tags,
}

impl Entity {
    pub(crate) fn new(id: i64, kind: i32, epoch: Epoch, last: Seq, hash: EventHash) -> Self {
        Self {
            id,
            kind,
            epoch,
            last,
            hash,
            is_moved: false,
            found_snapshot: None,
            trimmed: Seq::ZERO,
            events: Vec::new(),
            replaced_snapshots: None,
            snapshots: Vec::new(),
            forgets_notes: false,
            notes: BTreeMap::new(),
        }
    }

    fn claim(&mut self) -> Claim {
        (self.epoch, self.is_moved) = (self.epoch.next(), true);
        let Self { epoch, last, hash, .. } = *self;
        let found = self.found_snapshot.as_ref().filter(|_| self.replaced_snapshots.is_none());
        let snapshot = self.snapshots.first().or(found).cloned();
        Claim { epoch, last, hash, snapshot }
    }

    fn write(&mut self, id: &EntityId, member: &Member, commit: u64) {
        if member.deletes() {
            return self.delete(id);
        }
        self.events.extend(member.events().map(|(seq, event, hash)| NewEvent {
            seq,
            commit,
            hash,
            event: event.clone(),
            tags: member.tags_of(seq),
        }));
        if let Some((last, hash)) = member.moved_to() {
            (self.last, self.hash, self.is_moved) = (last, hash, true);
        }
        if let Some(snapshot) = member.written_snapshot() {
            self.keep(snapshot, member.replaces());
        }
        self.trim(member.trimmed());
        member.notes().iter().for_each(|change| self.change(change.clone()));
    }

    fn change(&mut self, note: NoteChange) {
        let (key, note) = match note {
            NoteChange::Put { kind, key, rank, value } => ((kind, key), Some((rank, value))),
            NoteChange::Remove { kind, key } => ((kind, key), None),
        };
        self.notes.insert(key, note);
    }

    /// The rank of a note as it is now, given that with which it was found.
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

    fn trim(&mut self, last: Seq) {
        if last == Seq::ZERO {
            return;
        }
        self.trimmed = self.trimmed.max(last);
        self.events.retain(|event| event.seq > last);
    }

    fn delete(&mut self, id: &EntityId) {
        self.trim(Seq::new(i64::MAX as u64));
        (self.replaced_snapshots, self.forgets_notes) = (Some(Seq::ZERO), true);
        self.snapshots.clear();
        self.notes.retain(|(kind, _), _| *kind == NoteKind::Outgoing);
        (self.last, self.hash, self.is_moved) = (Seq::ZERO, EventHash::of(id), true);
    }
}

impl Plan {
    /// Does one thing more.
    pub(crate) fn add(&mut self, asked: &Write) -> Answer {
        match asked {
            Write::Claim(id, _) => {
                let entity = self.entities.get_mut(id).expect("it was made if it was not there");
                Answer::Claim(entity.claim())
            }
            Write::Commit(commit, _) => Answer::Commit(self.commit(commit)),
            Write::Settle(id, _) => {
                Answer::Settle(*self.decisions.entry(*id).or_insert(Decision::Aborted))
            }
        }
    }

    fn commit(&mut self, commit: &Commit) -> Result<Decision, Refusal> {
        match self.decisions.get(&commit.id()) {
            Some(Decision::Before(Settled::Aborted) | Decision::Aborted) => {
                return Err(Refusal::Aborted);
            }
            Some(committed) => return Ok(*committed),
            None => {}
        }
        for (id, member) in commit.members() {
            let found = self.entities.get(id);
            let (owner, last) =
                found.map_or((Epoch::ZERO, Seq::ZERO), |found| (found.epoch, found.last));
            if let Some(refusal) = member.check(id, owner, last) {
                return Err(refusal);
            }
        }
        if let Some(gone) = commit.taken().iter().find(|note| !self.is_there(note)) {
            return Err(Refusal::Gone(gone.clone()));
        }
        self.commits += 1;
        for NoteId { entity, kind, key, .. } in commit.taken() {
            self.change(entity, NoteChange::Remove { kind: *kind, key: key.clone() });
        }
        for (id, member) in commit.members() {
            // (One that is not there has passed only if it was made, since then it has no epoch.)
            if let Some(entity) = self.entities.get_mut(id) {
                entity.write(id, member, self.commits);
            }
        }
        for Note { entity, kind, key, rank, value } in commit.left() {
            let (key, value) = (key.clone(), value.clone());
            self.change(entity, NoteChange::Put { kind: *kind, key, rank: *rank, value });
        }
        let decision = Decision::Stored(self.commits);
        self.decisions.insert(commit.id(), decision);
        Ok(decision)
    }

    fn is_there(&self, note: &NoteId) -> bool {
        let place = (note.entity.clone(), note.kind, note.key.clone());
        let found = self.found_notes.get(&place).copied();
        let entity = self.entities.get(&note.entity);
        entity.and_then(|entity| entity.rank_of(note, found)) == Some(note.rank)
    }

    /// Changes a note of an entity, if that is there.
    fn change(&mut self, id: &EntityId, note: NoteChange) {
        if let Some(entity) = self.entities.get_mut(id) {
            entity.change(note);
        }
    }

    /// The decisions that are stored.
    pub(crate) fn decided(&self) -> impl Iterator<Item = (CommitId, Option<u64>)> {
        self.decisions.iter().filter_map(|(id, decision)| match decision {
            Decision::Before(_) => None,
            Decision::Stored(commit) => Some((*id, Some(*commit))),
            Decision::Aborted => Some((*id, None)),
        })
    }
}

/// The entities that are concerned, in order, each with whether it is made if it is not there.
pub(crate) fn concerned(all: &[Write]) -> BTreeMap<EntityId, bool> {
    let mut entities = BTreeMap::new();
    let mut add = |id: &EntityId, is_made: bool| match entities.entry(id.clone()) {
        btree_map::Entry::Vacant(entry) => drop(entry.insert(is_made)),
        btree_map::Entry::Occupied(mut entry) => *entry.get_mut() |= is_made,
    };
    for asked in all {
        match asked {
            Write::Claim(id, _) => add(id, true),
            Write::Commit(commit, _) => {
                commit.members().for_each(|(id, member)| {
                    // One that was never claimed has a row as well, which can be locked.
                    add(id, member.epoch() == Epoch::ZERO);
                });
                commit.taken().iter().for_each(|note| add(&note.entity, false));
                commit.left().iter().for_each(|note| add(&note.entity, false));
            }
            Write::Settle(..) => {}
        }
    }
    entities
}
