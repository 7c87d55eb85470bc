//! A store that takes its time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coact::durable::MemoryStore;
use coact::prelude::*;
use coact::time::after;
use coact_tests::Dice;

use crate::layers::{Layer, Work, layer};

type Job = Box<dyn FnOnce() + Send>;

/// The store in memory, whose operations are done some time later, in their order, by a timer of
/// the runtime: so in a simulation too.
#[derive(Clone)]
pub struct Slow {
    pub store: MemoryStore,
    queue: Arc<Mutex<(VecDeque<Job>, Dice)>>,
    /// One operation at a time.
    writer: Cown<()>,
    longest: u64,
}

impl Slow {
    /// Each is done after up to `longest` microseconds.
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

layer!(Slow);

impl Layer for Slow {
    fn pass(&self, work: Work) {
        let store = self.store.clone();
        self.later(move || work(&store));
    }
}
