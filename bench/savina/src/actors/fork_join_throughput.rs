//! A message each to all actors, again and again.

use std::hint::black_box;

use coact::prelude::*;
use coact_bench_workloads::Finish;

use crate::sizes::computed;

#[derive(Actor)]
struct Worker {
    handled: u64,
    messages: u64,
    done: Finish,
}

#[handlers]
impl Worker {
    #[message]
    fn work(&mut self) {
        black_box(computed());
        self.handled += 1;
        if self.handled == self.messages {
            self.done.part(self.handled);
        }
    }
}

pub fn start(actors: u64, messages: u64, done: Finish) {
    let worker = |_| spawn(Worker { handled: 0, messages, done: done.clone() });
    let workers: Vec<_> = (0..actors).map(worker).collect();
    for _ in 0..messages {
        for worker in &workers {
            let _ = worker.send(Work);
        }
    }
}
