//! The counter is a cown.

use coact::prelude::{Cown, ask};

use super::Size;
use crate::runtime;
use coact_bench_workloads::threads;
use coact_bench_workloads::{Measured, Setup};

/// Adds with `add`.
pub fn run(setup: &Setup, size: Size, add: fn(&Cown<u64>)) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let counter = Cown::new(0);
    let start = threads::run(size.threads, |_| {
        for _ in 0..size.each {
            add(&counter);
        }
    });
    let sum = ask(&counter, |counter| *counter).wait().expect("the counter answers");
    Measured::new(start.elapsed(), size.messages(), sum)
}
