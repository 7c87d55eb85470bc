//! The floor: a mutex and a reference count each, and no work.

use std::sync::{Arc, Mutex, PoisonError};

use coact_bench_workloads::Measured;
use coact_bench_workloads::work::idle::{make, witnesses};

/// Makes them on this thread.
pub fn run(count: u64) -> Measured {
    let (all, mut measured) = make(count, |number| Arc::new(Mutex::new(number)));
    for witness in witnesses(count) {
        let shared = all[witness as usize].as_ref().expect("all are made");
        measured.result += *shared.lock().unwrap_or_else(PoisonError::into_inner);
    }
    measured
}
