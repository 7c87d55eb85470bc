//! An actor each.

use std::sync::Arc;
use std::time::Instant;

use coact::prelude::{Actor, Cown, ask, spawn};

use super::Counted;
use crate::runtime;
use coact_bench_workloads::{Measured, Setup};

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
