//! An actor each.

use std::sync::Arc;
use std::time::Instant;

use coact::prelude::{Actor, Addr, Context, Cown, Handler, Message, ask, spawn};

use super::{Begun, Counted, fill, places, witnesses};
use crate::harness::{Measured, Setup};
use crate::workloads::runtime;

struct Number(u64);

impl Actor for Number {}

struct Which;

impl Message for Which {
    type Reply = u64;
}

impl Handler<Which> for Number {
    fn handle(&mut self, _: Which, _: &mut Context<Self>) -> u64 {
        self.0
    }
}

/// Spawns them inside a behaviour, where most actors are spawned. Measured until all have started.
pub fn spawned(setup: &Setup, count: u64) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let mut all = places::<Addr<Number>>(count);
    let begun = Begun::now();
    let all = ask(Cown::new(()), move |_| {
        fill(&mut all, &mut |number| spawn(Number(number)));
        all
    });
    let all = all.wait().expect("they are spawned");
    runtime.wait_idle();
    let mut measured = begun.measured(count);
    for witness in witnesses(count) {
        let actor = all[witness as usize].as_ref().expect("all are spawned");
        measured.result += actor.ask(Which).wait().expect("it answers");
    }
    measured
}

impl Actor for Counted {}

/// Drops their addresses inside a behaviour. Measured until all have ended.
pub fn ended(setup: &Setup, count: u64) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let dropped = Arc::default();
    let all: Vec<_> = (0..count).map(|_| spawn(Counted(Arc::clone(&dropped)))).collect();
    runtime.wait_idle();
    let start = Instant::now();
    ask(Cown::new(all), |held| drop(std::mem::take(&mut *held.into_parts().0)))
        .wait()
        .expect("they are dropped");
    runtime.wait_idle();
    super::all_dropped(start, count, &dropped)
}
