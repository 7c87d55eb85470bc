//! A fork is a standard mutex, a philosopher a thread; the lower number is locked first.

use std::sync::{Mutex, PoisonError};

use super::{Fork, SEATS, meals};
use crate::harness::{Finish, Measured};
use crate::workloads::threads;

/// Twenty threads.
pub fn run(meals_each: u64) -> Measured {
    let forks: Vec<Mutex<Fork>> = (0..SEATS).map(|_| Mutex::default()).collect();
    let finish = Finish::after(SEATS as u64);
    let start = threads::run(SEATS as u64, |seat| {
        let (seat, other) = (seat as usize, (seat as usize + 1) % SEATS);
        let (first, second) = (&forks[seat.min(other)], &forks[seat.max(other)]);
        for _ in 0..meals_each {
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            let mut second = second.lock().unwrap_or_else(PoisonError::into_inner);
            first.uses += 1;
            second.uses += 1;
        }
        finish.part(0);
    });
    let (elapsed, _) = finish.wait(start);
    let uses =
        forks.iter().map(|fork| fork.lock().unwrap_or_else(PoisonError::into_inner).uses).sum();
    Measured::new(elapsed, meals(meals_each), uses)
}
