//! A cown each.

use std::sync::Arc;
use std::time::Instant;

use coact::prelude::{Cown, ask};

use super::{Counted, make, witnesses};
use crate::runtime;
use coact_bench_workloads::{Measured, Setup};

/// Makes them inside a behaviour, where most cowns are made.
pub fn run(setup: &Setup, count: u64, one: fn(u64) -> Cown<u64>) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let (cowns, mut measured) =
        ask(Cown::new(()), move |_| make(count, one)).wait().expect("they are made");
    for witness in witnesses(count) {
        let cown = cowns[witness as usize].as_ref().expect("all are made");
        measured.result += ask(cown, |number| *number).wait().expect("it answers");
    }
    measured
}

/// Drops their handles inside a behaviour. Measured until all have ended.
pub fn ended(setup: &Setup, count: u64) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let dropped = Arc::default();
    let all: Vec<_> = (0..count).map(|_| Cown::new(Counted(Arc::clone(&dropped)))).collect();
    let start = Instant::now();
    ask(Cown::new(all), |held| drop(std::mem::take(&mut *held.into_parts().0)))
        .wait()
        .expect("they are dropped");
    runtime.wait_idle();
    super::all_dropped(start, count, &dropped)
}
