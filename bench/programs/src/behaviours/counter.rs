//! The counter is a cown, and an add a behaviour.

use std::time::Instant;

use coact::credits::Credits;
use coact::prelude::{Cown, call, when, when_here};
use coact_bench_workloads::threads;
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::counter::{Counter, Size};
use crate::runtime;

/// Adds in flight at once with credits.
const IN_FLIGHT: usize = 1_024;

/// Plain threads spawn as fast as they can.
pub fn from_threads(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let counter = Cown::new(Counter::new(size, &finish));
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            when(&counter, |counter| counter.add(1));
        }
    });
    let (elapsed, sum) = finish.wait(start);
    Ok(Measured::new(elapsed, size.total(), sum))
}

/// Plain threads wait for a credit before each add, which bounds the memory.
pub fn with_credits(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    let runtime = runtime::coact(given)?;
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
    Ok(Measured::new(elapsed, size.total(), sum))
}

/// Behaviours spawn as fast as they can, each on a cown of its own.
pub fn spawned(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    let runtime = runtime::coact(given)?;
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
    Ok(Measured::new(elapsed, size.total(), sum))
}

/// A plain thread adds in place.
pub fn here(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let counter = Cown::new(Counter::new(size, &finish));
    let start = Instant::now();
    add_here(&counter, size);
    let (elapsed, sum) = finish.wait(start);
    Ok(Measured::new(elapsed, size.total(), sum))
}

/// A behaviour adds in place.
pub fn here_in_a_behaviour(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    let runtime = runtime::coact(given)?;
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
    Ok(Measured::new(elapsed, size.total(), sum))
}

fn add_here(counter: &Cown<Counter>, size: Size) {
    for _ in 0..size.each {
        when_here(counter, |counter| counter.add(1));
    }
}

/// Plain threads spawn the adds, and one that asks for the sum.
pub fn asked(given: &Given) -> anyhow::Result<Measured> {
    ask_in_the_end(given, |counter| {
        when(counter, |counter| *counter += 1);
    })
}

/// Plain threads add in place where the counter is free.
pub fn asked_here(given: &Given) -> anyhow::Result<Measured> {
    ask_in_the_end(given, |counter| {
        when_here(counter, |counter| *counter += 1);
    })
}

fn ask_in_the_end(given: &Given, add: fn(&Cown<u64>)) -> anyhow::Result<Measured> {
    let size = Size::asked(given)?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let counter = Cown::new(0);
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            add(&counter);
        }
    });
    let sum = call(&counter, |counter| *counter).wait().expect("the counter answers");
    Ok(Measured::new(start.elapsed(), size.total(), sum))
}
