//! An actor a message; its address is dropped once it has been sent, so it ends when it has
//! counted.

use coact::prelude::*;
use coact_bench_workloads::Finish;

use crate::sizes::computed;

#[derive(Actor)]
struct Worker {
    done: Finish,
}

#[handlers]
impl Worker {
    #[message]
    fn work(&mut self) {
        self.done.part(u64::from(computed() > 0.0));
    }
}

pub fn start(workers: u64, done: Finish) {
    for _ in 0..workers {
        let worker = spawn(Worker { done: done.clone() });
        let _ = worker.send(Work);
    }
}
