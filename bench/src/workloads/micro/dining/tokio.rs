//! A fork is a tokio mutex, a philosopher a task; the lower number is locked first.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::{Fork, SEATS, meals};
use crate::harness::{Finish, Measured, Setup, Stopwatch};
use crate::workloads::runtime;

/// Twenty tasks.
pub fn run(setup: &Setup, meals_each: u64) -> Measured {
    let runtime = runtime::tokio(setup);
    let forks: Arc<Vec<Mutex<Fork>>> = Arc::new((0..SEATS).map(|_| Mutex::default()).collect());
    let finish = Finish::after(SEATS as u64);
    let stopwatch = Stopwatch::default();
    let (started, table, finished) = (stopwatch.clone(), Arc::clone(&forks), finish.clone());
    runtime.spawn(async move {
        started.start();
        for seat in 0..SEATS {
            tokio::spawn(philosopher(Arc::clone(&table), seat, meals_each, finished.clone()));
        }
    });
    let (elapsed, _) = stopwatch.until(&finish);
    let uses = forks.iter().map(|fork| fork.blocking_lock().uses).sum();
    Measured::new(elapsed, meals(meals_each), uses)
}

async fn philosopher(forks: Arc<Vec<Mutex<Fork>>>, seat: usize, meals_each: u64, finish: Finish) {
    let other = (seat + 1) % SEATS;
    let (first, second) = (&forks[seat.min(other)], &forks[seat.max(other)]);
    for _ in 0..meals_each {
        let mut first = first.lock().await;
        let mut second = second.lock().await;
        first.uses += 1;
        second.uses += 1;
    }
    finish.part(0);
}
