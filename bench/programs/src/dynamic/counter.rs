//! The counter is an actor, and an add a message.

use coact::dynamic::{DynAddr, DynContext, atom, cases, spawn_dyn, spawn_dyn_with};
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch, threads};

use crate::counter::{Counter, Size};
use crate::runtime;

fn counter(size: Size, finish: &Finish) -> DynAddr {
    spawn_dyn_with(Counter::new(size, finish), |me| {
        me.become_(cases! { |me: &mut DynContext<Counter>|
            (atom!("add"), amount: u64) => me.state_mut().add(amount),
        });
    })
    .into()
}

fn send_all(counter: &DynAddr, size: Size) {
    for _ in 0..size.each {
        counter.send((atom!("add"), 1_u64)).expect("the counter lives");
    }
}

/// An actor sends as fast as it can.
pub fn from_an_actor(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let (finish, stopwatch) = (Finish::after(1), Stopwatch::default());
    let (counter, started) = (counter(size, &finish), stopwatch.clone());
    let producer = spawn_dyn(move |me: &mut DynContext| {
        started.start();
        for _ in 0..size.each {
            me.send(&counter, (atom!("add"), 1_u64)).expect("the counter lives");
        }
    });
    let (elapsed, sum) = stopwatch.until(&finish);
    drop(producer);
    Ok(Measured::new(elapsed, size.total(), sum))
}

/// Plain threads send as fast as they can.
pub fn from_threads(given: &Given) -> anyhow::Result<Measured> {
    let (producers, each) = (given.number("senders")?, given.number("messages")?);
    let size = Size { producers, each };
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let counter = counter(size, &finish);
    let start = threads::run(size.producers, |_| send_all(&counter, size));
    let (elapsed, sum) = finish.wait(start);
    Ok(Measured::new(elapsed, size.total(), sum))
}
