//! A behaviour an add.

use std::time::Instant;

use coact::prelude::{Cown, Credits, when, when_here};

use super::{Counter, Size};
use crate::runtime;
use coact_bench_workloads::threads;
use coact_bench_workloads::{Finish, Measured, Setup, Stopwatch};

/// Adds in flight at once with credits.
const IN_FLIGHT: usize = 1_024;

/// Plain threads spawn as fast as they can.
pub fn from_threads(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let counter = Cown::new(Counter::new(size, &finish));
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            when(&counter, |counter| counter.add(1));
        }
    });
    let (elapsed, sum) = finish.wait(start);
    Measured::new(elapsed, size.total(), sum)
}

/// Plain threads wait for a credit before each add, which bounds the memory.
pub fn with_credits(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let counter = Cown::new(Counter::new(size, &finish));
    let credits = Credits::new(IN_FLIGHT);
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            let permit = credits.acquire_blocking(1);
            when(&counter, move |counter| {
                counter.add(1);
                drop(permit);
            });
        }
    });
    let (elapsed, sum) = finish.wait(start);
    Measured::new(elapsed, size.total(), sum)
}

/// Behaviours spawn as fast as they can, each on a cown of its own.
pub fn spawned(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let counter = Cown::new(Counter::new(size, &finish));
    let started = stopwatch.clone();
    when(Cown::new(()), move |_| {
        started.start();
        for _ in 0..size.producers {
            let counter = counter.clone();
            when(Cown::new(()), move |_| {
                for _ in 0..size.each {
                    when(&counter, |counter| counter.add(1));
                }
            });
        }
    });
    let (elapsed, sum) = stopwatch.until(&finish);
    Measured::new(elapsed, size.total(), sum)
}

/// A plain thread adds in place.
pub fn here(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let counter = Cown::new(Counter::new(size, &finish));
    let start = Instant::now();
    add_here(&counter, size);
    let (elapsed, sum) = finish.wait(start);
    Measured::new(elapsed, size.total(), sum)
}

/// A behaviour adds in place.
pub fn here_in_a_behaviour(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let counter = Cown::new(Counter::new(size, &finish));
    let started = stopwatch.clone();
    when(Cown::new(()), move |_| {
        started.start();
        add_here(&counter, size);
    });
    let (elapsed, sum) = stopwatch.until(&finish);
    Measured::new(elapsed, size.total(), sum)
}

fn add_here(counter: &Cown<Counter>, size: Size) {
    for _ in 0..size.each {
        when_here(counter, |counter| counter.add(1));
    }
}
