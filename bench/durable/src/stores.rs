//! Stores that are counted, and one that does not group commits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use coact::durable::store::{
    Claim, Commit, CommitId, Done, LogEntry, Logs, Note, Notes, Outcome, Reader, Settled, Snapshot,
    StoredEvent, Summary,
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
    waiting: VecDeque<(Commit, Done<Outcome>)>,
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
        impl Reader for $store {
            fn events(
                &self,
                entity: EntityId,
                after: Seq,
                most: usize,
                done: Done<Result<Vec<StoredEvent>, StoreError>>,
            ) {
                self.$($to)+.events(entity, after, most, done);
            }

            fn snapshots(&self, entity: EntityId, done: Done<Result<Vec<Snapshot>, StoreError>>) {
                self.$($to)+.snapshots(entity, done);
            }

            fn notes(&self, which: Notes, most: usize, done: Done<Result<Vec<Note>, StoreError>>) {
                self.$($to)+.notes(which, most, done);
            }

            fn log(
                &self,
                which: Logs,
                after: Position,
                most: usize,
                done: Done<Result<Vec<LogEntry>, StoreError>>,
            ) {
                self.$($to)+.log(which, after, most, done);
            }

            fn entities(
                &self,
                kind: Option<Arc<str>>,
                after: Option<EntityId>,
                most: usize,
                done: Done<Result<Vec<Summary>, StoreError>>,
            ) {
                self.$($to)+.entities(kind, after, most, done);
            }

            fn position(&self, done: Done<Result<Position, StoreError>>) {
                self.$($to)+.position(done);
            }
        }
    };
}

reads!(Shared, 0);
reads!(OneByOne, store);

impl Store for Shared {
    fn claim(&self, entity: EntityId, done: Done<Result<Claim, StoreError>>) {
        self.0.claim(entity, done);
    }

    fn commit(&self, commit: Commit, done: Done<Outcome>) {
        self.0.commit(commit, done);
    }

    fn settle(&self, commit: CommitId, done: Done<Result<Settled, StoreError>>) {
        self.0.settle(commit, done);
    }

    fn close(&self, done: Done<()>) {
        self.0.close(done);
    }
}

impl Store for OneByOne {
    fn claim(&self, entity: EntityId, done: Done<Result<Claim, StoreError>>) {
        self.store.claim(entity, done);
    }

    fn commit(&self, commit: Commit, done: Done<Outcome>) {
        let is_busy = {
            let mut queue = self.queue();
            queue.waiting.push_back((commit, done));
            std::mem::replace(&mut queue.is_busy, true)
        };
        if !is_busy {
            self.next();
        }
    }

    fn settle(&self, commit: CommitId, done: Done<Result<Settled, StoreError>>) {
        self.store.settle(commit, done);
    }

    fn close(&self, done: Done<()>) {
        self.store.close(done);
    }
}
