//! The producers lock the counter and add to it themselves.

use std::sync::{Mutex, PoisonError};

use coact_bench::harness::Measured;
use coact_bench::workloads::threads;

use super::Size;

/// A mutex of the standard library.
pub fn std(size: Size) -> Measured {
    let counter = Mutex::new(0);
    run(
        size,
        || *counter.lock().unwrap_or_else(PoisonError::into_inner) += 1,
        || *counter.lock().unwrap_or_else(PoisonError::into_inner),
    )
}

/// A mutex of parking_lot.
pub fn parking(size: Size) -> Measured {
    let counter = parking_lot::Mutex::new(0);
    run(size, || *counter.lock() += 1, || *counter.lock())
}

/// A mutex of tokio.
pub fn tokio(size: Size) -> Measured {
    let counter = tokio::sync::Mutex::new(0);
    run(size, || *counter.blocking_lock() += 1, || *counter.blocking_lock())
}

fn run(size: Size, add: impl Fn() + Sync, sum: impl Fn() -> u64) -> Measured {
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            add();
        }
    });
    let sum = sum();
    Measured::new(start.elapsed(), size.total(), sum)
}
