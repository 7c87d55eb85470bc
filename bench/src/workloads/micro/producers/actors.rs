//! A message an add.

use coact::prelude::{Actor, Addr, Context, Handler, Message, spawn};

use super::{Counter, Size};
use crate::harness::{Finish, Measured, Setup, Stopwatch};
use crate::workloads::runtime;

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
