//! A behaviour each on all cowns, again and again, and one over all of them at the end.

use std::hint::black_box;

use coact::prelude::*;
use coact_bench_workloads::Finish;

use crate::sizes::computed;

pub fn start(actors: u64, messages: u64, done: Finish) {
    let workers: Vec<_> = (0..actors).map(|_| Cown::new(0_u64)).collect();
    for _ in 0..messages {
        for worker in &workers {
            when(worker, |handled| {
                black_box(computed());
                *handled += 1;
            });
        }
    }
    when(&workers, move |handled| done.part(handled.iter().sum()));
}
