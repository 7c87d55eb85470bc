//! One step over entities: what it writes, and what has come of it.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use smallvec::SmallVec;

use crate::entity::{EntityId, Epoch, Position, Seq};
use crate::error::StoreError;
use crate::note::{Note, NoteChange, NoteId, NoteKey, NoteKind};
use crate::record::{Event, EventHash, Snapshot};
use crate::tags::Tags;

/// The identity of a commit, by which it is settled whether it has happened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CommitId(u128);

impl CommitId {
    /// One that no other commit has: 64 random bits of this process, and a number in it.
    #[must_use]
    pub fn unique() -> Self {
        use std::hash::{BuildHasher, RandomState};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        static PROCESS: std::sync::LazyLock<u64> = std::sync::LazyLock::new(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            RandomState::new().hash_one((now.as_nanos(), std::process::id()))
        });
        // ORDERING: Relaxed. The numbers are distinct, and publish nothing.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(u128::from(*PROCESS) << 64 | u128::from(number))
    }

    /// One that was stored.
    #[must_use]
    pub const fn from_stored(id: u128) -> Self {
        Self(id)
    }

    /// To be stored.
    #[must_use]
    pub const fn get(self) -> u128 {
        self.0
    }
}

impl Display for CommitId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A step over entities, stored as a whole or not at all.
///
/// It is committed only if each member, also one that is only read, is still as the writer knows
/// it: not claimed by another owner, and without further events.
#[derive(Clone, Debug)]
pub struct Commit {
    id: CommitId,
    /// The only member, as nearly all commits have one. (A tree's node has room for eleven.)
    only: Option<Arc<(EntityId, CommitMember)>>,
    /// All of them, if there are several.
    several: BTreeMap<EntityId, CommitMember>,
    taken: Vec<NoteId>,
    /// The same, if they are many.
    #[expect(clippy::box_collection, reason = "few commits have one, and all are moved")]
    many_taken: Option<Box<HashSet<NoteId>>>,
    left: Vec<Note>,
    is_check: bool,
}

/// How many taken notes are looked at one by one.
const FEW: usize = 16;

/// See [`Commit::memory`].
#[derive(Debug)]
pub struct CommitMemory {
    _only: Option<Arc<(EntityId, CommitMember)>>,
}

/// One entity of a commit: what the writer knows of it, and what the commit writes.
#[derive(Clone, Debug)]
pub struct CommitMember {
    epoch: Epoch,
    after: Seq,
    /// The hash that it has to have, if that was said.
    before: Option<EventHash>,
    /// Most decisions have one.
    events: SmallVec<[(Event, EventHash); 1]>,
    /// Those of events that have some.
    tags: Vec<(Seq, Tags)>,
    snapshot: Option<Box<Snapshot>>,
    /// Whether the snapshot is a state that has no events.
    replaces: bool,
    notes: Vec<NoteChange>,
    trim: Seq,
    deletes: bool,
}

impl Commit {
    /// One without members.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "no two are equal")]
    pub fn new() -> Self {
        let (only, several) = (None, BTreeMap::new());
        let (taken, many_taken, left) = (Vec::new(), None, Vec::new());
        let id = CommitId::unique();
        Self { id, only, several, taken, many_taken, left, is_check: false }
    }

    /// Makes it a check: it only asks whether all members are as the writer knows them, at one
    /// moment, behind what was submitted before.
    ///
    /// Nothing is stored of a check, not even that it was made, and it has no position of its own:
    /// if it passes, it is told to be [committed](StoreOutcome::Committed) at the position of the
    /// last commit that the store has by then. If it is not known whether it has passed, it is not
    /// [settled](crate::Store::settle), but made anew. A store that does not know checks stores it
    /// as any other commit, which costs a row.
    ///
    /// ```
    /// use coact_persist::{
    ///     Commit, CommitRefusal, EntityId, MemoryStore, Store, StoreOutcome, StoreReader, wait,
    /// };
    ///
    /// let (store, alice) = (MemoryStore::new(), EntityId::new("bank.account", "alice"));
    /// let claim = wait(|done| store.claim(alice.clone(), done))?;
    /// let mut check = Commit::new();
    /// check.member(alice.clone(), claim.epoch, claim.last).rests_on(claim.hash);
    /// check.make_check();
    /// let position = wait(|done| store.position(done))?;
    /// let outcome = wait(|done| store.commit(check.clone(), done));
    /// assert_eq!(outcome, StoreOutcome::Committed(position));
    ///
    /// // Another owner.
    /// wait(|done| store.claim(alice, done))?;
    /// let outcome = wait(|done| store.commit(check, done));
    /// assert!(matches!(outcome, StoreOutcome::Refused(CommitRefusal::Fenced { .. })));
    /// # Ok::<(), coact_persist::StoreError>(())
    /// ```
    ///
    /// # Panics
    /// If it writes something. (What is added to it later is not written.)
    pub fn make_check(&mut self) {
        let is_read = |(_, member): (_, &CommitMember)| member.writes_nothing();
        let takes_nothing = self.taken.is_empty() && self.left.is_empty();
        assert!(takes_nothing && self.members().all(is_read), "a check that writes something");
        self.is_check = true;
    }

    /// Whether it is a [check](Self::make_check).
    #[must_use]
    pub fn is_check(&self) -> bool {
        self.is_check
    }

    /// Its identity.
    #[must_use]
    pub fn id(&self) -> CommitId {
        self.id
    }

    /// Makes an entity a member, as its owner knows it: of this epoch, and with this last event.
    /// What it writes is added to the result; if that is nothing, the entity is only read. One that
    /// is a member already stays as it is.
    pub fn member(&mut self, entity: EntityId, epoch: Epoch, after: Seq) -> &mut CommitMember {
        if self.only.as_ref().is_some_and(|only| only.0 != entity) {
            self.several.extend(self.only.take().map(Arc::unwrap_or_clone));
        }
        let new = || CommitMember::new(epoch, after);
        if self.several.is_empty() {
            let only = self.only.get_or_insert_with(|| Arc::new((entity, new())));
            return &mut Arc::make_mut(only).1;
        }
        self.several.entry(entity).or_insert_with(new)
    }

    /// Takes a note away, of an entity that need not be a member, nor owned by the writer. The
    /// commit is [refused](CommitRefusal::Gone) if it is not there, as it was before the commit: so
    /// one commit has it.
    ///
    /// # Panics
    /// If it is to be taken already.
    pub fn take_note(&mut self, note: NoteId) {
        let is_new = if self.taken.len() < FEW {
            !self.taken.contains(&note)
        } else {
            let all = || Box::new(self.taken.iter().cloned().collect());
            self.many_taken.get_or_insert_with(all).insert(note.clone())
        };
        assert!(is_new, "a note that is taken twice: {note:?}");
        self.taken.push(note);
    }

    /// Stores a note of an entity that need not be a member, nor owned by the writer, instead of
    /// the one with this key if there is one. Nothing comes of it if the entity was never claimed.
    ///
    /// # Panics
    /// If its rank is 2^63 or more.
    pub fn leave_note(&mut self, note: Note) {
        assert!(note.rank <= i64::MAX as u64, "a rank of {}: it has 63 bits", note.rank);
        self.left.push(note);
    }

    /// The notes that are taken, in this order.
    #[must_use]
    pub fn taken(&self) -> &[NoteId] {
        &self.taken
    }

    /// The notes that are left, in this order, behind all else.
    #[must_use]
    pub fn left(&self) -> &[Note] {
        &self.left
    }

    /// Keeps the memory of a commit that has one member, so that it is freed where this is dropped,
    /// if the store has dropped the commit by then: it was made there, and what another thread
    /// frees costs allocators more.
    #[must_use]
    pub fn memory(&self) -> CommitMemory {
        CommitMemory { _only: self.only.clone() }
    }

    /// Its members, ordered by their identities.
    pub fn members(&self) -> impl Iterator<Item = (&EntityId, &CommitMember)> {
        let only = self.only.iter().map(|only| (&only.0, &only.1));
        only.chain(&self.several)
    }
}

impl CommitMember {
    fn new(epoch: Epoch, after: Seq) -> Self {
        Self {
            epoch,
            after,
            before: None,
            events: SmallVec::new(),
            tags: Vec::new(),
            snapshot: None,
            replaces: false,
            notes: Vec::new(),
            trim: Seq::ZERO,
            deletes: false,
        }
    }

    /// Adds an event behind those that it has, given the hash of the one before. Returns its own.
    ///
    /// # Panics
    /// If its [state is replaced](Self::replace), or it is [deleted](Self::delete).
    pub fn event(&mut self, event: Event, before: EventHash) -> EventHash {
        assert!(!self.replaces && !self.deletes, "an event behind what has none");
        self.before.get_or_insert(before);
        let hash = before.with(self.last().next(), &event);
        self.events.push((event, hash));
        hash
    }

    /// Tags the event that was added last, instead of those tags that it has. They are stored with
    /// it, and removed with it.
    ///
    /// # Panics
    /// If none was added.
    pub fn tag(&mut self, tags: Tags) {
        assert!(!self.events.is_empty(), "tags without an event");
        let last = self.last();
        self.tags.pop_if(|(seq, _)| *seq == last);
        if !tags.is_empty() {
            self.tags.push((last, tags));
        }
    }

    /// Adds a snapshot of the state after these events.
    pub fn snapshot(&mut self, state: Event, hash: EventHash) {
        self.snapshot = Some(Box::new(Snapshot::new(self.last(), hash, state)));
    }

    /// Replaces the state of an entity that has no events, given the hash of the state before: it
    /// has the next number, and is told as the [snapshot](crate::Claim::snapshot) of that number.
    /// Returns its own hash.
    ///
    /// # Panics
    /// If it has events, is replaced already, or [deleted](Self::delete).
    pub fn replace(&mut self, state: Event, before: EventHash) -> EventHash {
        assert!(
            self.events.is_empty() && !self.replaces && !self.deletes,
            "one state instead of events"
        );
        self.before.get_or_insert(before);
        let seq = self.after.next();
        let hash = before.with(seq, &state);
        self.replaces = true;
        self.snapshot = Some(Box::new(Snapshot::new(seq, hash, state)));
        hash
    }

    /// Stores a note of the entity, instead of the one of this kind with this key, if there is one.
    /// `rank` is by what those of a kind are [found](crate::NoteQuery::Ranked).
    ///
    /// # Panics
    /// If the rank is 2^63 or more.
    pub fn put_note(&mut self, kind: NoteKind, key: NoteKey, rank: u64, value: Event) {
        assert!(rank <= i64::MAX as u64, "a rank of {rank}: it has 63 bits");
        self.notes.push(NoteChange::Put { kind, key, rank, value });
    }

    /// Removes a note of the entity, if there is one.
    pub fn remove_note(&mut self, kind: NoteKind, key: NoteKey) {
        self.notes.push(NoteChange::Remove { kind, key });
    }

    /// Changes a note of the entity.
    ///
    /// # Panics
    /// If its rank is 2^63 or more.
    pub fn note(&mut self, change: NoteChange) {
        match change {
            NoteChange::Put { kind, key, rank, value } => self.put_note(kind, key, rank, value),
            NoteChange::Remove { kind, key } => self.remove_note(kind, key),
        }
    }

    /// Removes the events up to this one, which nothing needs any more: recoveries begin with a
    /// snapshot behind them.
    pub fn trim(&mut self, last: Seq) {
        self.trim = self.trim.max(last);
    }

    /// Removes the entity: its events, snapshots, and notes but for [outgoing](NoteKind::Outgoing)
    /// messages, which are still delivered. Its numbers begin anew, but not its epochs, so that
    /// earlier owners stay fenced.
    ///
    /// # Panics
    /// If something else is written of it.
    pub fn delete(&mut self) {
        let is_empty = self.events.is_empty() && self.notes.is_empty() && self.snapshot.is_none();
        assert!(is_empty, "what is deleted has nothing to be stored");
        self.deletes = true;
    }

    /// Says what hash the last event before the commit has, if that is not said by an
    /// [event](Self::event) or a [state](Self::replace): an entity may have had as many events
    /// before it was deleted, and then they are others.
    pub fn rests_on(&mut self, hash: EventHash) {
        self.before.get_or_insert(hash);
    }

    /// Whether the entity is as the writer knows it, given the epoch of its owner, and the last
    /// event and its hash, that are stored: why the commit is refused, if not. For stores. (One
    /// that is not there has no epoch and no event, and the [hash of none](EventHash::of).)
    #[must_use]
    pub fn check(
        &self,
        entity: &EntityId,
        owner: Epoch,
        (found, hash): (Seq, EventHash),
    ) -> Option<CommitRefusal> {
        let (epoch, expected) = (self.epoch, self.after);
        if epoch != owner {
            Some(CommitRefusal::Fenced { entity: entity.clone(), epoch, owner })
        } else if expected != found || self.before.is_some_and(|before| before != hash) {
            Some(CommitRefusal::Conflict { entity: entity.clone(), expected, found })
        } else {
            None
        }
    }

    /// The epoch of its owner.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The last event before the commit.
    #[must_use]
    pub fn after(&self) -> Seq {
        self.after
    }

    /// The last event after it.
    #[must_use]
    pub fn last(&self) -> Seq {
        if self.deletes {
            return Seq::ZERO;
        }
        Seq::new(self.after.get() + self.events.len() as u64 + u64::from(self.replaces))
    }

    /// What is written of it, in order.
    pub fn events(&self) -> impl Iterator<Item = (Seq, &Event, EventHash)> {
        let numbered = (self.after.get() + 1..).zip(&self.events);
        numbered.map(|(seq, (event, hash))| (Seq::new(seq), event, *hash))
    }

    /// The tags of those events that have some, in order.
    pub fn tags(&self) -> impl Iterator<Item = (Seq, &Tags)> {
        self.tags.iter().map(|(seq, tags)| (*seq, tags))
    }

    /// The tags of one of its events.
    #[must_use]
    pub fn tags_of(&self, event: Seq) -> Tags {
        let found = self.tags.binary_search_by_key(&event, |(seq, _)| *seq);
        found.map_or(Tags::NONE, |at| self.tags[at].1.clone())
    }

    /// The snapshot that is written, if there is one.
    #[must_use]
    pub fn written_snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_deref()
    }

    /// Whether that is a [state without events](Self::replace): then it is the only one that is
    /// kept.
    #[must_use]
    pub fn replaces(&self) -> bool {
        self.replaces
    }

    /// The number and the hash after the commit, if they are others than before.
    #[must_use]
    pub fn moved_to(&self) -> Option<(Seq, EventHash)> {
        let replaced = self.snapshot.as_ref().filter(|_| self.replaces).map(|state| state.hash);
        let hash = replaced.or_else(|| self.events.last().map(|(_, hash)| *hash))?;
        Some((self.last(), hash))
    }

    /// What becomes of notes, in this order.
    #[must_use]
    pub fn notes(&self) -> &[NoteChange] {
        &self.notes
    }

    fn writes_nothing(&self) -> bool {
        let Self { events, snapshot, notes, trim, deletes, .. } = self;
        let is_kept = *trim == Seq::ZERO && !deletes;
        is_kept && events.is_empty() && snapshot.is_none() && notes.is_empty()
    }

    /// Up to which event events are removed.
    #[must_use]
    pub fn trimmed(&self) -> Seq {
        self.trim
    }

    /// Whether the entity is [removed](Self::delete).
    #[must_use]
    pub fn deletes(&self) -> bool {
        self.deletes
    }
}

/// The store's answer to a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoreOutcome {
    /// It is durable. (A [check](Commit::make_check) has passed.)
    Committed(Position),
    /// Nothing of it is stored, or ever will be.
    Refused(CommitRefusal),
    /// It may be stored, or may be stored later: [settle](crate::Store::settle) it. (Of a
    /// [check](Commit::make_check) nothing is stored: make it anew.)
    Unknown(StoreError),
}

/// Why a commit was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CommitRefusal {
    /// An entity was claimed by another owner since.
    Fenced {
        /// Which.
        entity: EntityId,
        /// The epoch of the commit.
        epoch: Epoch,
        /// That of the owner now.
        owner: Epoch,
    },
    /// An entity has other events than the commit knows of.
    Conflict {
        /// Which.
        entity: EntityId,
        /// The last event that the commit knows.
        expected: Seq,
        /// The last one that is stored.
        found: Seq,
    },
    /// A note that it takes is not there, or not any more.
    Gone(NoteId),
    /// It was settled as aborted before it came.
    Aborted,
    /// The store could not take it, and has not.
    Store(StoreError),
}

impl Display for CommitRefusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fenced { entity, epoch, owner } => write!(
                f,
                "`{entity}` has another owner since (epoch {owner}, and not {epoch}): recover it, or leave it to that one"
            ),
            Self::Conflict { entity, expected, found } => write!(
                f,
                "`{entity}` has events up to {found}, and not to {expected}, or others, in the same epoch: recover it"
            ),
            Self::Gone(NoteId { entity, kind, key, .. }) => {
                write!(
                    f,
                    "the note {key:?} ({kind:?}) of `{entity}` is gone: another commit has taken it"
                )
            }
            Self::Aborted => f.write_str("it was settled as aborted"),
            Self::Store(error) => Display::fmt(error, f),
        }
    }
}

impl Error for CommitRefusal {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // (The text has what it says itself.)
            Self::Store(error) => error.source(),
            _ => None,
        }
    }
}

/// The decision on a commit of unknown outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommitSettlement {
    /// It is durable.
    Committed(Position),
    /// It has not happened, and will not.
    Aborted,
}
