//! A store that takes its time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coact::durable::{
    Claim, Commit, CommitId, Done, EntityId, LogEntry, MemoryStore, Outcome, Position, Seq,
    Settled, Store, StoreError, StoredEvent,
};
use coact::prelude::*;
use coact::time::after;
use coact_tests::Dice;

type Work = Box<dyn FnOnce() + Send>;

/// The store in memory, whose operations are done some time later, in their order, by a timer of the runtime: so in a
/// simulation too.
#[derive(Clone)]
pub struct Slow {
    pub store: MemoryStore,
    queue: Arc<Mutex<(VecDeque<Work>, Dice)>>,
    /// One operation at a time.
    writer: Cown<()>,
    longest: u64,
}

impl Slow {
    /// Of up to so many microseconds.
    pub fn new(store: &MemoryStore, longest: u64, seed: u64) -> Self {
        let queue = Arc::new(Mutex::new((VecDeque::new(), Dice::new(seed))));
        Self { store: store.clone(), queue, writer: Cown::new(()), longest }
    }

    fn later(&self, work: impl FnOnce() + Send + 'static) {
        let delay = {
            let (queue, dice) = &mut *self.queue.lock().unwrap();
            queue.push_back(Box::new(work));
            dice.below(self.longest as usize) as u64
        };
        let (queue, writer) = (Arc::clone(&self.queue), self.writer.clone());
        after(Duration::from_micros(delay), &writer, move |()| {
            let first = queue.lock().unwrap().0.pop_front();
            first.into_iter().for_each(|work| work());
        });
    }
}

impl Store for Slow {
    fn claim(&self, entity: EntityId, done: Done<Result<Claim, StoreError>>) {
        let store = self.store.clone();
        self.later(move || store.claim(entity, done));
    }

    fn events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: Done<Result<Vec<StoredEvent>, StoreError>>,
    ) {
        let store = self.store.clone();
        self.later(move || store.events(entity, after, most, done));
    }

    fn log(
        &self,
        kind: Arc<str>,
        after: Position,
        most: usize,
        done: Done<Result<Vec<LogEntry>, StoreError>>,
    ) {
        let store = self.store.clone();
        self.later(move || store.log(kind, after, most, done));
    }

    fn commit(&self, commit: Commit, done: Done<Outcome>) {
        let store = self.store.clone();
        self.later(move || store.commit(commit, done));
    }

    fn settle(&self, commit: CommitId, done: Done<Result<Settled, StoreError>>) {
        let store = self.store.clone();
        self.later(move || store.settle(commit, done));
    }
}
