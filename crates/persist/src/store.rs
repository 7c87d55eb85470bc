//! Who keeps what is durable.

use std::sync::{Arc, mpsc};

use crate::commit::{Commit, CommitId, CommitSettlement, StoreOutcome};
use crate::entity::{EntityId, Epoch, Position, Seq};
use crate::error::StoreError;
use crate::note::{Note, NoteQuery};
use crate::record::{EntitySummary, EventHash, LogEntry, LogQuery, Snapshot, StoredEvent};

/// Is called once with a result, on any thread. It must not block.
pub type StoreCallback<T> = Box<dyn FnOnce(T) + Send>;

/// What can be read of a store, by whom may not change it as well. Its methods return at once, and call what they are given when
/// the result is there: on a thread of the store, or on the caller's before they return. Each result is told once.
pub trait StoreReader: Send + Sync + 'static {
    /// Reads events of an entity, in order, from the one after `after` on: `most` of them, or fewer if there are no
    /// more.
    fn events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
    );

    /// Reads the snapshots of an entity that are kept, the latest first. They are not [checked](Snapshot::check), no more than
    /// events are: that is for who uses them.
    fn snapshots(&self, entity: EntityId, done: StoreCallback<Result<Vec<Snapshot>, StoreError>>);

    /// Reads notes, in the order that their choice has: `most` of them, or fewer if there are no more. If one of them is damaged, that
    /// is [told](StoreError::CorruptNote) instead of all.
    fn notes(
        &self,
        which: NoteQuery,
        most: usize,
        done: StoreCallback<Result<Vec<Note>, StoreError>>,
    );

    /// Reads the events of all entities of a kind, or those with a tag, in the order of their commits, from behind a position on: whole
    /// commits, with `most` such events or more if the last one has, or fewer if there are no more. Those of a commit are ordered by entity, and
    /// number.
    ///
    /// Who has seen a position has seen all before it: no commit comes later with a lower one.
    fn log(
        &self,
        which: LogQuery,
        after: Position,
        most: usize,
        done: StoreCallback<Result<Vec<LogEntry>, StoreError>>,
    );

    /// Lists the entities of which something is stored, be it a note, ordered by their identities, from behind one on: those of a kind, or all.
    /// `most` of them, or fewer if there are no more.
    fn entities(
        &self,
        kind: Option<Arc<str>>,
        after: Option<EntityId>,
        most: usize,
        done: StoreCallback<Result<Vec<EntitySummary>, StoreError>>,
    );

    /// Tells the position of the last commit that is stored: no position in a log is behind it.
    fn position(&self, done: StoreCallback<Result<Position, StoreError>>);
}

/// A store of entities.
///
/// * Commits that are submitted one after the other are stored in that order, if they have a member in common. All
///   that wait may be stored as one transaction, in which each is refused alone.
/// * If a store is dropped, what was submitted is stored, or called with an error.
pub trait Store: StoreReader {
    /// Makes the caller the owner of an entity, which need not have been there: raises its epoch, and tells what there
    /// is of it. From then on commits of earlier owners are refused, those that are under way among them.
    fn claim(&self, entity: EntityId, done: StoreCallback<Result<Claim, StoreError>>);

    /// Stores a commit. Once it is told to be committed, it is durable. A commit that comes twice is stored once, and
    /// told the same.
    ///
    /// A [check](Commit::make_check) is compared, and not stored. It sees what was told to be
    /// committed, or claimed, before it was submitted, through any handle of the store.
    fn commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>);

    /// Decides whether a commit whose outcome is [unknown](StoreOutcome::Unknown) has happened: if it is not stored by now,
    /// it is aborted, and refused if it comes yet. (A [check](Commit::make_check) is not settled.)
    fn settle(&self, commit: CommitId, done: StoreCallback<Result<CommitSettlement, StoreError>>);

    /// Closes the store, whatever handles there still are: answers what was asked before, refuses what is asked from now on
    /// ([`StoreError::Closed`]), releases what it has (the lock of its file, its connections), and then calls `done`. From then on
    /// the same place can be opened again, by this process or another one. A commit that is still of unknown outcome stays so.
    ///
    /// It ends as soon as what was asked before is answered, and each store says how long an answer takes at most. To close a store
    /// that is closed calls `done` when it is. To drop the store does the same, and waits for it.
    ///
    /// A store that has nothing to release, as the one in [memory](crate::MemoryStore), need not do this: then it calls `done` at once, and
    /// goes on.
    ///
    /// ```
    /// use coact_persist::{MemoryStore, Store, wait};
    ///
    /// let store = MemoryStore::new();
    /// wait(|done| store.close(done));
    /// ```
    fn close(&self, done: StoreCallback<()>) {
        done(());
    }
}

/// What there is of an entity, for its owner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The owner's epoch.
    pub epoch: Epoch,
    /// The last event.
    pub last: Seq,
    /// Its hash.
    pub hash: EventHash,
    /// The latest snapshot, which is to be [checked](Snapshot::check).
    pub snapshot: Option<Snapshot>,
    /// The position of the last commit that the store had then: no event, snapshot or note that the
    /// entity has at the claim is behind it.
    pub position: Position,
}

/// Blocks the calling thread until a result is there: for programs and tests that use a store by hand.
///
/// # Panics
/// If the store drops what it is given.
pub fn wait<T: Send + 'static>(operation: impl FnOnce(StoreCallback<T>)) -> T {
    let (tell, told) = mpsc::channel();
    operation(Box::new(move |result| drop(tell.send(result))));
    told.recv().expect("a store tells each result")
}
