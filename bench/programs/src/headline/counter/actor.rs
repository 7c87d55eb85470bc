//! The counter is an actor.

use coact::prelude::*;

use super::Size;
use crate::runtime;
use coact_bench_workloads::threads;
use coact_bench_workloads::{Measured, Setup};

#[derive(Actor, Default)]
struct Counter {
    sum: u64,
}

#[handlers]
impl Counter {
    #[message]
    fn add(&mut self, amount: u64) {
        self.sum += amount;
    }

    #[message]
    fn sum(&self) -> u64 {
        self.sum
    }
}

/// The workers handle the messages.
pub fn on_workers(setup: &Setup, size: Size) -> Measured {
    run(setup, size, spawn)
}

/// Whoever finds the actor idle handles the messages.
pub fn on_callers(setup: &Setup, size: Size) -> Measured {
    run(setup, size, |counter| actor(counter).on(Host::caller()).spawn())
}

fn run(setup: &Setup, size: Size, spawn: fn(Counter) -> Addr<Counter>) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let counter = spawn(Counter::default());
    let start = threads::run(size.threads, |_| {
        for _ in 0..size.each {
            counter.send(Add { amount: 1 }).expect("the counter lives");
        }
    });
    let sum = counter.ask(Sum).wait().expect("the counter answers");
    Measured::new(start.elapsed(), size.messages(), sum)
}
