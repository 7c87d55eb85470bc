//! A fork is a standard mutex, a philosopher a thread; the lower number is locked first.

use std::sync::{Mutex, PoisonError};

use coact_bench::harness::{Finish, Measured};
use coact_bench::workloads::threads;

use super::{Fork, Size};

/// A thread each.
pub fn run(size: Size) -> Measured {
    let forks: Vec<Mutex<Fork>> = (0..size.philosophers).map(|_| Mutex::default()).collect();
    let finish = Finish::after(size.philosophers as u64);
    let start = threads::run(size.philosophers as u64, |philosopher| {
        let (first, second) = size.forks(philosopher as usize);
        for _ in 0..size.meals_each {
            let mut first = forks[first].lock().unwrap_or_else(PoisonError::into_inner);
            let mut second = forks[second].lock().unwrap_or_else(PoisonError::into_inner);
            first.uses += 1;
            second.uses += 1;
        }
        finish.part(0);
    });
    let (elapsed, _) = finish.wait(start);
    let uses =
        forks.iter().map(|fork| fork.lock().unwrap_or_else(PoisonError::into_inner).uses).sum();
    Measured::new(elapsed, size.meals(), uses)
}
