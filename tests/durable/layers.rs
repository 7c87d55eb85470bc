//! The store in memory with something in front of it.

use coact::durable::store::{
    Claim, Commit, CommitId, CommitSettlement, Note, NoteQuery, StoreCallback, StoreOutcome,
    StoreReader, StoredEvent,
};
use coact::durable::{EntityId, MemoryStore, Seq, Store, StoreError};

/// An operation that the store has not done yet.
pub type Work = Box<dyn FnOnce(&MemoryStore) + Send>;

/// A callback that gets what was read, or the outcome of an operation.
pub type Told<T> = StoreCallback<Result<T, StoreError>>;

/// What stands in front of the store; [`layer!`] makes it one itself.
pub trait Layer {
    /// Passes an operation on, here or elsewhere, now or later.
    fn pass(&self, work: Work);

    fn read_events(&self, entity: EntityId, after: Seq, most: usize, done: Told<Vec<StoredEvent>>) {
        self.pass(Box::new(move |store| store.events(entity, after, most, done)));
    }

    fn read_notes(&self, which: NoteQuery, most: usize, done: Told<Vec<Note>>) {
        self.pass(Box::new(move |store| store.notes(which, most, done)));
    }

    fn take_claim(&self, entity: EntityId, done: Told<Claim>) {
        self.pass(Box::new(move |store| store.claim(entity, done)));
    }

    fn take_commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        self.pass(Box::new(move |store| store.commit(commit, done)));
    }

    fn take_settle(&self, commit: CommitId, done: Told<CommitSettlement>) {
        self.pass(Box::new(move |store| store.settle(commit, done)));
    }

    fn end(&self, done: StoreCallback<()>) {
        done(());
    }
}

macro_rules! layer {
    ($type:ty) => {
        const _: () = {
            use std::sync::Arc;

            use coact::durable::store::*;

            use $crate::layers::{Layer, Told};

            impl StoreReader for $type {
                fn events(
                    &self,
                    entity: EntityId,
                    after: Seq,
                    most: usize,
                    done: Told<Vec<StoredEvent>>,
                ) {
                    self.read_events(entity, after, most, done);
                }

                fn snapshots(&self, entity: EntityId, done: Told<Vec<Snapshot>>) {
                    self.pass(Box::new(move |store| store.snapshots(entity, done)));
                }

                fn notes(&self, which: NoteQuery, most: usize, done: Told<Vec<Note>>) {
                    self.read_notes(which, most, done);
                }

                fn log(
                    &self,
                    which: LogQuery,
                    after: Position,
                    most: usize,
                    done: Told<Vec<LogEntry>>,
                ) {
                    self.pass(Box::new(move |store| store.log(which, after, most, done)));
                }

                fn entities(
                    &self,
                    kind: Option<Arc<str>>,
                    after: Option<EntityId>,
                    most: usize,
                    done: Told<Vec<EntitySummary>>,
                ) {
                    self.pass(Box::new(move |store| store.entities(kind, after, most, done)));
                }

                fn position(&self, done: Told<Position>) {
                    self.pass(Box::new(move |store| store.position(done)));
                }
            }

            impl Store for $type {
                fn claim(&self, entity: EntityId, done: Told<Claim>) {
                    self.take_claim(entity, done);
                }

                fn commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
                    self.take_commit(commit, done);
                }

                fn settle(&self, commit: CommitId, done: Told<CommitSettlement>) {
                    self.take_settle(commit, done);
                }

                fn close(&self, done: StoreCallback<()>) {
                    self.end(done);
                }
            }
        };
    };
}
pub(crate) use layer;
