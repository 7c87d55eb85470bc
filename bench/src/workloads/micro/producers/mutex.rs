//! The producers lock the counter and add to it themselves.

use std::sync::{Mutex, PoisonError};

use super::{Counter, Size};
use crate::harness::{Finish, Measured};
use crate::workloads::threads;

/// Plain threads.
pub fn from_threads(size: Size) -> Measured {
    let finish = Finish::after(1);
    let counter = Mutex::new(Counter::new(size, &finish));
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            counter.lock().unwrap_or_else(PoisonError::into_inner).add(1);
        }
    });
    let (elapsed, sum) = finish.wait(start);
    Measured::new(elapsed, size.total(), sum)
}
