//! A cown each.

use std::sync::Arc;
use std::time::Instant;

use coact::prelude::{Cown, call, when};
use coact_bench_workloads::memory::{Begun, places};
use coact_bench_workloads::work::idle::{make, witnesses};
use coact_bench_workloads::{Given, Measured};

use crate::idle::{Counted, alive, all_dropped};
use crate::runtime;

/// Each in a cache line of its own.
pub fn made(given: &Given) -> anyhow::Result<Measured> {
    make_all(given, Cown::new)
}

/// Each in no more memory than it takes.
pub fn packed(given: &Given) -> anyhow::Result<Measured> {
    make_all(given, Cown::packed)
}

/// Makes them inside a behaviour, where most cowns are made.
fn make_all(given: &Given, one: fn(u64) -> Cown<u64>) -> anyhow::Result<Measured> {
    let count = given.number("cowns")?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let (cowns, mut measured) =
        call(Cown::new(()), move |_| make(count, one)).wait().expect("they are made");
    for witness in witnesses(count) {
        let cown = cowns[witness as usize].as_ref().expect("all are made");
        measured.result += call(cown, |number| *number).wait().expect("it answers");
    }
    Ok(measured)
}

/// Drops their handles inside a behaviour. Measured until all have ended.
pub fn ended(given: &Given) -> anyhow::Result<Measured> {
    let count = given.number("actors")?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let dropped = Arc::default();
    let all: Vec<_> = (0..count).map(|_| Cown::new(Counted(Arc::clone(&dropped)))).collect();
    let start = Instant::now();
    call(Cown::new(all), |held| drop(std::mem::take(&mut *held.into_parts().0)))
        .wait()
        .expect("they are dropped");
    runtime.wait_idle();
    Ok(all_dropped(start, count, &dropped))
}

/// Makes them inside a behaviour. Measured until an empty behaviour has run on each.
pub fn started(given: &Given) -> anyhow::Result<Measured> {
    let count = given.number("actors")?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let mut all = places(count);
    let begun = Begun::now();
    let making = call(Cown::new(()), move |_| {
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
    measured.result = alive(&all, |cown| call(cown, |number| *number));
    Ok(measured)
}
