//! A message an add.

use std::time::Instant;

use coact::prelude::{Actor, Addr, Context, Cown, Handler, Host, Message, actor, spawn, when};

use super::{Counter, Size};
use crate::runtime;
use coact_bench_workloads::{Finish, Measured, Setup, Stopwatch};

impl Actor for Counter {}

struct Add(u64);

impl Message for Add {
    type Reply = ();
}

impl Handler<Add> for Counter {
    fn handle(&mut self, Add(amount): Add, _: &mut Context<Self>) {
        self.add(amount);
    }
}

/// Sends all adds as soon as it lives.
struct Producer {
    counter: Addr<Counter>,
    each: u64,
    stopwatch: Stopwatch,
}

impl Actor for Producer {
    fn started(&mut self, _: &mut Context<Self>) {
        self.stopwatch.start();
        for _ in 0..self.each {
            self.counter.send(Add(1)).expect("the counter lives");
        }
    }
}

/// An actor sends as fast as it can.
pub fn from_an_actor(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let counter = spawn(Counter::new(size, &finish));
    let producer = spawn(Producer { counter, each: size.each, stopwatch: stopwatch.clone() });
    let (elapsed, sum) = stopwatch.until(&finish);
    drop(producer);
    Measured::new(elapsed, size.total(), sum)
}

/// A plain thread sends to an actor that runs on its callers.
pub fn on_the_caller(setup: &Setup, size: Size) -> Measured {
    from_a_thread(setup, size, |counter| actor(counter).on(Host::caller()).spawn())
}

/// The same to one that runs on the workers.
pub fn on_the_workers(setup: &Setup, size: Size) -> Measured {
    from_a_thread(setup, size, spawn)
}

fn from_a_thread(
    setup: &Setup,
    size: Size,
    spawn: impl FnOnce(Counter) -> Addr<Counter>,
) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let counter = spawn(Counter::new(size, &finish));
    // It has started: nothing is left that would keep the first senders from it.
    runtime.wait_idle();
    let start = Instant::now();
    send_all(&counter, size);
    let (elapsed, sum) = finish.wait(start);
    Measured::new(elapsed, size.total(), sum)
}

/// A behaviour sends to an actor that runs on its callers.
pub fn on_a_behaviour(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let counter = actor(Counter::new(size, &finish)).on(Host::caller()).spawn();
    runtime.wait_idle();
    let started = stopwatch.clone();
    when(Cown::new(()), move |_| {
        started.start();
        send_all(&counter, size);
    });
    let (elapsed, sum) = stopwatch.until(&finish);
    Measured::new(elapsed, size.total(), sum)
}

fn send_all(counter: &Addr<Counter>, size: Size) {
    for _ in 0..size.each {
        counter.send(Add(1)).expect("the counter lives");
    }
}
