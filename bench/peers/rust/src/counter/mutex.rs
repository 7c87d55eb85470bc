//! The producers lock the counter and add to it themselves.

use coact_bench_workloads::Measured;
use coact_bench_workloads::threads;

use super::common::Size;
use crate::lock::Lock;

/// Plain threads.
pub fn run<L: Lock<u64>>(size: Size) -> Measured {
    let counter = L::new(0);
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            *counter.hold() += 1;
        }
    });
    let sum = *counter.hold();
    Measured::new(start.elapsed(), size.total(), sum)
}
