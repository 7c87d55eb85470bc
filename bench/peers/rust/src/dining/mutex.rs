//! A fork is a mutex; the lower number is locked first.

use coact_bench_workloads::Measured;
use coact_bench_workloads::threads;

use super::common::{Fork, Size};
use crate::lock::Lock;

/// Each thread has philosophers who sit side by side, and they eat by turns.
pub fn run<L: Lock<Fork>>(threads: usize, size: Size) -> Measured {
    let forks: Vec<L> = (0..size.philosophers).map(|_| L::new(Fork::default())).collect();
    let first_of = |thread| size.philosophers * thread / threads;
    let start = threads::run(threads as u64, |thread| {
        let mine = first_of(thread as usize)..first_of(thread as usize + 1);
        for _ in 0..size.meals_each {
            for philosopher in mine.clone() {
                let (first, second) = size.forks(philosopher);
                size.eat(&mut forks[first].hold(), &mut forks[second].hold());
            }
        }
    });
    let elapsed = start.elapsed();
    let uses = forks.iter().map(|fork| fork.hold().uses).sum();
    Measured::new(elapsed, size.meals(), size.result(uses))
}
