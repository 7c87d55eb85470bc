//! An actor each.

use std::sync::Arc;
use std::time::Instant;

use coact::prelude::*;
use coact_bench_workloads::memory::{Begun, places};
use coact_bench_workloads::{Given, Measured};

use crate::idle::{Counted, alive, all_dropped};
use crate::runtime;

impl Actor for Counted {}

/// Drops their addresses inside a behaviour. Measured until all have ended.
pub fn ended(given: &Given) -> anyhow::Result<Measured> {
    let count = given.number("actors")?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let dropped = Arc::default();
    let all: Vec<_> = (0..count).map(|_| spawn(Counted(Arc::clone(&dropped)))).collect();
    runtime.wait_idle();
    let start = Instant::now();
    call(Cown::new(all), |held| drop(std::mem::take(&mut *held.into_parts().0)))
        .wait()
        .expect("they are dropped");
    runtime.wait_idle();
    Ok(all_dropped(start, count, &dropped))
}

#[derive(Actor)]
struct Idle {
    number: u64,
}

/// Spawns them where most actors are spawned: inside a behaviour. Measured until all have started.
pub fn spawned(given: &Given) -> anyhow::Result<Measured> {
    let count = given.number("actors")?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let mut all = places(count);
    let begun = Begun::now();
    let spawning = call(Cown::new(()), move |_| {
        for (number, place) in (0..).zip(&mut all) {
            *place = Some(spawn(Idle { number }));
        }
        all
    });
    let all = spawning.wait().expect("they are spawned");
    runtime.wait_idle();
    let mut measured = begun.measured(count);
    measured.result = alive(&all, |actor| call(actor, |actor| actor.number));
    Ok(measured)
}
