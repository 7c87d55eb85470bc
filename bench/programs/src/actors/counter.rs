//! The counter is an actor, and an add a message.

use std::time::Instant;

use coact::Context;
use coact::prelude::*;
use coact::system::Host;
use coact_bench_workloads::threads;
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::counter::{Counter, Size};
use crate::runtime;

impl Actor for Counter {}

struct Amount(u64);

impl Message for Amount {
    type Reply = ();
}

impl Handler<Amount> for Counter {
    fn handle(&mut self, Amount(amount): Amount, _: &mut Context<Self>) {
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
            self.counter.send(Amount(1)).expect("the counter lives");
        }
    }
}

/// An actor sends as fast as it can.
pub fn from_an_actor(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let counter = spawn(Counter::new(size, &finish));
    let producer = spawn(Producer { counter, each: size.each, stopwatch: stopwatch.clone() });
    let (elapsed, sum) = stopwatch.until(&finish);
    drop(producer);
    Ok(Measured::new(elapsed, size.total(), sum))
}

/// A plain thread sends to an actor that runs on its callers.
pub fn on_the_caller(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    from_a_thread(given, size, |counter| actor(counter).on(Host::caller()).spawn())
}

/// The same to one that runs on the workers.
pub fn on_the_workers(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    from_a_thread(given, size, spawn)
}

fn from_a_thread(
    given: &Given,
    size: Size,
    spawn: impl FnOnce(Counter) -> Addr<Counter>,
) -> anyhow::Result<Measured> {
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let counter = spawn(Counter::new(size, &finish));
    // It has started: nothing is left that would keep the first senders from it.
    runtime.wait_idle();
    let start = Instant::now();
    send_all(&counter, size);
    let (elapsed, sum) = finish.wait(start);
    Ok(Measured::new(elapsed, size.total(), sum))
}

/// A behaviour sends to an actor that runs on its callers.
pub fn on_a_behaviour(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    let runtime = runtime::coact(given)?;
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
    Ok(Measured::new(elapsed, size.total(), sum))
}

fn send_all(counter: &Addr<Counter>, size: Size) {
    for _ in 0..size.each {
        counter.send(Amount(1)).expect("the counter lives");
    }
}

/// Plain threads send as fast as they can.
pub fn from_threads(given: &Given) -> anyhow::Result<Measured> {
    let (producers, each) = (given.number("senders")?, given.number("messages")?);
    let size = Size { producers, each };
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let counter = spawn(Counter::new(size, &finish));
    let start = threads::run(size.producers, |_| send_all(&counter, size));
    let (elapsed, sum) = finish.wait(start);
    Ok(Measured::new(elapsed, size.total(), sum))
}

/// One that does not know how many adds are to come: it is asked.
#[derive(Default)]
struct Asked {
    sum: u64,
}

impl Actor for Asked {}

#[handlers(api = AskedApi)]
impl Asked {
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
pub fn asked(given: &Given) -> anyhow::Result<Measured> {
    ask_in_the_end(given, spawn)
}

/// The thread that finds the actor idle handles the messages.
pub fn asked_on_callers(given: &Given) -> anyhow::Result<Measured> {
    ask_in_the_end(given, |counter| actor(counter).on(Host::caller()).spawn())
}

fn ask_in_the_end(given: &Given, spawn: fn(Asked) -> Addr<Asked>) -> anyhow::Result<Measured> {
    let size = Size::asked(given)?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let counter = spawn(Asked::default());
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            counter.send(Add { amount: 1 }).expect("the counter lives");
        }
    });
    let sum = counter.ask(Sum).wait().expect("the counter answers");
    Ok(Measured::new(start.elapsed(), size.total(), sum))
}
