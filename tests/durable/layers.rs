//! The store in memory with something in front of it.

use coact::durable::{Commit, Done, EntityId, MemoryStore, Outcome, Seq, StoreError, StoredEvent};

/// An operation that the store is yet to do.
pub type Work = Box<dyn FnOnce(&MemoryStore) + Send>;

/// What stands in front of the store; [`layer!`] makes it one itself.
pub trait Layer {
    /// Has an operation done, here or elsewhere, now or later.
    fn pass(&self, work: Work);

    fn read_events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: Done<Result<Vec<StoredEvent>, StoreError>>,
    ) {
        self.pass(Box::new(move |store| {
            coact::durable::Store::events(store, entity, after, most, done)
        }));
    }

    fn take_commit(&self, commit: Commit, done: Done<Outcome>) {
        self.pass(Box::new(move |store| coact::durable::Store::commit(store, commit, done)));
    }
}

macro_rules! layer {
    ($type:ty) => {
        impl coact::durable::Store for $type {
            fn claim(
                &self,
                entity: coact::durable::EntityId,
                done: coact::durable::Done<
                    Result<coact::durable::Claim, coact::durable::StoreError>,
                >,
            ) {
                $crate::layers::Layer::pass(self, Box::new(move |store| store.claim(entity, done)));
            }

            fn events(
                &self,
                entity: coact::durable::EntityId,
                after: coact::durable::Seq,
                most: usize,
                done: coact::durable::Done<
                    Result<Vec<coact::durable::StoredEvent>, coact::durable::StoreError>,
                >,
            ) {
                $crate::layers::Layer::read_events(self, entity, after, most, done);
            }

            fn log(
                &self,
                kind: std::sync::Arc<str>,
                after: coact::durable::Position,
                most: usize,
                done: coact::durable::Done<
                    Result<Vec<coact::durable::LogEntry>, coact::durable::StoreError>,
                >,
            ) {
                $crate::layers::Layer::pass(
                    self,
                    Box::new(move |store| store.log(kind, after, most, done)),
                );
            }

            fn commit(
                &self,
                commit: coact::durable::Commit,
                done: coact::durable::Done<coact::durable::Outcome>,
            ) {
                $crate::layers::Layer::take_commit(self, commit, done);
            }

            fn settle(
                &self,
                commit: coact::durable::CommitId,
                done: coact::durable::Done<
                    Result<coact::durable::Settled, coact::durable::StoreError>,
                >,
            ) {
                $crate::layers::Layer::pass(
                    self,
                    Box::new(move |store| store.settle(commit, done)),
                );
            }
        }
    };
}
pub(crate) use layer;
