//! A store that reports commits when a test says so, on any thread.

use std::mem::take;
use std::sync::{Arc, Mutex};

use coact::durable::store::{Commit, StoreCallback, StoreOutcome, wait};
use coact::durable::{CommitRefusal, MemoryStore, Store, StoreError};

use crate::layers::{Layer, Work, layer};

/// The store in memory, which can hold commits back.
#[derive(Clone, Default)]
pub struct Manual(Arc<Mutex<Held>>, pub MemoryStore);

#[derive(Default)]
struct Held {
    holds: bool,
    commits: Vec<(Commit, StoreCallback<StoreOutcome>)>,
}

impl Manual {
    /// Holds back the commits that come.
    pub fn hold(&self) {
        self.0.lock().unwrap().holds = true;
    }

    /// How many commits it holds back.
    pub fn len(&self) -> usize {
        self.0.lock().unwrap().commits.len()
    }

    fn let_go(&self) -> Vec<(Commit, StoreCallback<StoreOutcome>)> {
        let mut held = self.0.lock().unwrap();
        held.holds = false;
        take(&mut held.commits)
    }

    /// Stores the commits that it holds back, and those that come.
    pub fn release(&self) {
        self.let_go().into_iter().for_each(|(commit, done)| self.1.commit(commit, done));
    }

    /// Stores the commits that it holds back, and those that come. Returns what reports the
    /// outcomes.
    pub fn store_untold(&self) -> Vec<Box<dyn FnOnce()>> {
        let tell = |(commit, done): (Commit, StoreCallback<StoreOutcome>)| {
            let outcome = wait(|told| self.1.commit(commit, told));
            Box::new(move || done(outcome)) as Box<dyn FnOnce()>
        };
        self.let_go().into_iter().map(tell).collect()
    }

    /// Stores the first commit that it holds back, and goes on holding back the others.
    pub fn release_one(&self) {
        let (commit, done) = self.0.lock().unwrap().commits.remove(0);
        self.1.commit(commit, done);
    }

    /// The same as [`release`](Self::release), from the last to the first.
    pub fn release_backwards(&self) {
        self.let_go().into_iter().rev().for_each(|(commit, done)| self.1.commit(commit, done));
    }

    /// Refuses the first commit that it holds back. Treats the others, and those that come, as
    /// before.
    pub fn refuse_first(&self) {
        let mut commits = self.let_go().into_iter();
        let why = StoreError::Unavailable { why: "it was refused".into() };
        let refused = StoreOutcome::Refused(CommitRefusal::Store(why));
        commits.next().into_iter().for_each(|(_, done)| done(refused.clone()));
        commits.for_each(|(commit, done)| self.1.commit(commit, done));
    }

    /// Refuses the commits that it holds back.
    pub fn refuse(&self) {
        let why = || StoreError::Unavailable { why: "it was refused".into() };
        self.let_go()
            .into_iter()
            .for_each(|(_, done)| done(StoreOutcome::Refused(CommitRefusal::Store(why()))));
    }
}

layer!(Manual);

impl Layer for Manual {
    fn pass(&self, work: Work) {
        work(&self.1);
    }

    fn take_commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        let mut held = self.0.lock().unwrap();
        if held.holds {
            held.commits.push((commit, done));
        } else {
            drop(held);
            self.1.commit(commit, done);
        }
    }
}
