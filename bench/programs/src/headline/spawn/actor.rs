//! An actor each.

use coact::prelude::*;

use crate::runtime;
use coact_bench_workloads::memory::{Begun, places};
use coact_bench_workloads::{Measured, Setup};

#[derive(Actor)]
struct Idle {
    number: u64,
}

/// Spawns them where most actors are spawned: inside a behaviour. Measured until all have started.
pub fn run(setup: &Setup, count: u64) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let mut all = places(count);
    let begun = Begun::now();
    let spawning = ask(Cown::new(()), move |_| {
        for (number, place) in (0..).zip(&mut all) {
            *place = Some(spawn(Idle { number }));
        }
        all
    });
    let all = spawning.wait().expect("they are spawned");
    runtime.wait_idle();
    let mut measured = begun.measured(count);
    measured.result = super::alive(&all, |actor| ask(actor, |actor| actor.number));
    measured
}
