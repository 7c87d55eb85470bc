//! Stores that are counted, and one that does not group commits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use coact::durable::store::{
    Claim, Commit, CommitId, CommitSettlement, EntitySummary, LogEntry, LogQuery, Note, NoteQuery,
    Snapshot, StoreCallback, StoreOutcome, StoreReader, StoredEvent,
};
use coact::durable::{EntityId, Position, Seq, Store, StoreError};
use coact_sqlite::SqliteStore;

/// A store in a file, of which the case keeps a handle beside the journal's.
#[derive(Clone)]
pub struct Shared(pub Arc<SqliteStore>);

/// The same, but it gets a commit only after the outcome of the one before: each transaction has
/// one commit, and each commit a flush of its own.
#[derive(Clone)]
pub struct OneByOne {
    store: Shared,
    queue: Arc<Mutex<Queue>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(Commit, StoreCallback<StoreOutcome>)>,
    is_busy: bool,
}

impl OneByOne {
    /// One before this store.
    pub fn new(store: Shared) -> OneByOne {
        OneByOne { store, queue: Arc::default() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) {
        let next = {
            let mut queue = self.queue();
            let next = queue.waiting.pop_front();
            queue.is_busy = next.is_some();
            next
        };
        let Some((commit, done)) = next else { return };
        let this = self.clone();
        let then = move |outcome| {
            done(outcome);
            this.next();
        };
        self.store.commit(commit, Box::new(then));
    }
}

/// Hands all questions of a reader to another one.
macro_rules! reads {
    ($store:ty, $($to:tt)+) => {
        impl StoreReader for $store {
            fn events(
                &self,
                entity: EntityId,
                after: Seq,
                most: usize,
                done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
            ) {
                self.$($to)+.events(entity, after, most, done);
            }

            fn snapshots(&self, entity: EntityId, done: StoreCallback<Result<Vec<Snapshot>, StoreError>>) {
                self.$($to)+.snapshots(entity, done);
            }

            fn notes(&self, which: NoteQuery, most: usize, done: StoreCallback<Result<Vec<Note>, StoreError>>) {
                self.$($to)+.notes(which, most, done);
            }

            fn log(
                &self,
                which: LogQuery,
                after: Position,
                most: usize,
                done: StoreCallback<Result<Vec<LogEntry>, StoreError>>,
            ) {
                self.$($to)+.log(which, after, most, done);
            }

            fn entities(
                &self,
                kind: Option<Arc<str>>,
                after: Option<EntityId>,
                most: usize,
                done: StoreCallback<Result<Vec<EntitySummary>, StoreError>>,
            ) {
                self.$($to)+.entities(kind, after, most, done);
            }

            fn position(&self, done: StoreCallback<Result<Position, StoreError>>) {
                self.$($to)+.position(done);
            }
        }
    };
}

reads!(Shared, 0);
reads!(OneByOne, store);

impl Store for Shared {
    fn claim(&self, entity: EntityId, done: StoreCallback<Result<Claim, StoreError>>) {
        self.0.claim(entity, done);
    }

    fn commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        self.0.commit(commit, done);
    }

    fn settle(&self, commit: CommitId, done: StoreCallback<Result<CommitSettlement, StoreError>>) {
        self.0.settle(commit, done);
    }

    fn close(&self, done: StoreCallback<()>) {
        self.0.close(done);
    }
}

impl Store for OneByOne {
    fn claim(&self, entity: EntityId, done: StoreCallback<Result<Claim, StoreError>>) {
        self.store.claim(entity, done);
    }

    fn commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        let is_busy = {
            let mut queue = self.queue();
            queue.waiting.push_back((commit, done));
            std::mem::replace(&mut queue.is_busy, true)
        };
        if !is_busy {
            self.next();
        }
    }

    fn settle(&self, commit: CommitId, done: StoreCallback<Result<CommitSettlement, StoreError>>) {
        self.store.settle(commit, done);
    }

    fn close(&self, done: StoreCallback<()>) {
        self.store.close(done);
    }
}
