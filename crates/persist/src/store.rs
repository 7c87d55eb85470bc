//! The interface of stores.

use std::sync::{Arc, mpsc};

use crate::commit::{Commit, CommitId, CommitSettlement, StoreOutcome};
use crate::entity::{EntityId, Epoch, Position, Seq};
use crate::error::StoreError;
use crate::note::{Note, NoteQuery};
use crate::record::{EntitySummary, EventHash, LogEntry, LogQuery, Snapshot, StoredEvent};

/// A callback for a result, called once, on any thread. It must not block.
pub type StoreCallback<T> = Box<dyn FnOnce(T) + Send>;

/// The part of a store that only reads. Its methods return at once, and call the callback with the
/// result: on a thread of the store, or on the caller's before they return.
pub trait StoreReader: Send + Sync + 'static {
    /// Reads events of an entity, in order, starting after `after`: `most` of them, or fewer if
    /// there are no more.
    fn events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
    );

    /// Reads the snapshots of an entity, the latest first. Like events, they are not
    /// [checked](Snapshot::check): the caller does that.
    fn snapshots(&self, entity: EntityId, done: StoreCallback<Result<Vec<Snapshot>, StoreError>>);

    /// Reads notes, in the order of their query: `most` of them, or fewer if there are no more. If
    /// one is damaged, fails with [`StoreError::CorruptNote`].
    fn notes(
        &self,
        which: NoteQuery,
        most: usize,
        done: StoreCallback<Result<Vec<Note>, StoreError>>,
    );

    /// Reads the events of all entities of a kind, or those with a tag, in the order of their
    /// commits, starting after a position. It reads whole commits until it has `most` events, or
    /// fewer if there are no more. Events of one commit are ordered by entity and number.
    ///
    /// A reader that has seen a position has seen all before it: no later commit has a lower one.
    fn log(
        &self,
        which: LogQuery,
        after: Position,
        most: usize,
        done: StoreCallback<Result<Vec<LogEntry>, StoreError>>,
    );

    /// Lists the entities of a kind, or all, that have anything stored, even a note: ordered by
    /// identity, starting after `after`, `most` of them, or fewer if there are no more.
    fn entities(
        &self,
        kind: Option<Arc<str>>,
        after: Option<EntityId>,
        most: usize,
        done: StoreCallback<Result<Vec<EntitySummary>, StoreError>>,
    );

    /// Reads the position of the last stored commit: no log has a later one.
    fn position(&self, done: StoreCallback<Result<Position, StoreError>>);
}

/// A store of entities.
///
/// * Commits that share a member are stored in the order of submission. All that wait may be stored
///   as one transaction, in which each is refused alone.
/// * A store that is dropped stores what was submitted, or answers it with an error.
pub trait Store: StoreReader {
    /// Makes the caller the owner of an entity, which need not exist: raises its epoch, and returns
    /// what is stored of it. From then on commits of earlier owners are refused, also those in
    /// flight.
    fn claim(&self, entity: EntityId, done: StoreCallback<Result<Claim, StoreError>>);

    /// Stores a commit. Once it is answered as committed, it is durable. A commit that comes twice
    /// is stored once, and has the same answer.
    ///
    /// A [check](Commit::make_check) is compared, and not stored. It sees every commit and claim
    /// that was answered before it was submitted, through any handle of the store.
    fn commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>);

    /// Decides whether a commit whose outcome is [unknown](StoreOutcome::Unknown) has happened: if
    /// it is not stored by now, it is aborted, and refused if it comes yet. (A
    /// [check](Commit::make_check) is not settled.)
    fn settle(&self, commit: CommitId, done: StoreCallback<Result<CommitSettlement, StoreError>>);

    /// Closes the store for all its handles: answers earlier requests, refuses later ones
    /// ([`StoreError::Closed`]), releases its resources (file lock, connections), and then calls
    /// `done`. From then on this process or another one can open the same place again. A commit of
    /// unknown outcome stays unknown.
    ///
    /// It ends once earlier requests are answered; each store documents how long an answer takes at
    /// most. Closing a closed store calls `done` once it is closed. Dropping the store does the
    /// same, and waits for it.
    ///
    /// A store with nothing to release, such as the one in [memory](crate::MemoryStore), need not
    /// implement this: by default it calls `done` at once, and the store goes on.
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

/// The state of an entity as its new owner finds it.
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

/// Blocks the calling thread until the result is there: for programs and tests that use a store by
/// hand.
///
/// # Panics
/// If the store drops the callback.
pub fn wait<T: Send + 'static>(operation: impl FnOnce(StoreCallback<T>)) -> T {
    let (tell, told) = mpsc::channel();
    operation(Box::new(move |result| drop(tell.send(result))));
    told.recv().expect("a store tells each result")
}
