//! A cown each, and what starts it.

use coact::prelude::*;

use crate::runtime;
use coact_bench_workloads::memory::{Begun, places};
use coact_bench_workloads::{Measured, Setup};

/// Makes them inside a behaviour. Measured until an empty behaviour has run on each.
pub fn run(setup: &Setup, count: u64) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let mut all = places(count);
    let begun = Begun::now();
    let making = ask(Cown::new(()), move |_| {
        for (number, place) in (0..).zip(&mut all) {
            let cown = Cown::new(number);
            when(&cown, |_| {});
            *place = Some(cown);
        }
        all
    });
    let all = making.wait().expect("they are made");
    runtime.wait_idle();
    let mut measured = begun.measured(count);
    measured.result = super::alive(&all, |cown| ask(cown, |number| *number));
    measured
}
