//! A cown a chain; each piece of work spawns the next.

use coact::prelude::{Cown, when};

use super::Size;
use crate::runtime;
use coact_bench_workloads::{Finish, Measured, Setup, Stopwatch};

struct Chain {
    done: u64,
    size: Size,
    finish: Finish,
}

fn next(chain: Cown<Chain>) {
    let target = chain.clone();
    when(&target, move |state| {
        state.done += state.size.work();
        if state.done == state.size.pieces {
            state.finish.part(state.done);
        } else {
            next(chain);
        }
    });
}

/// One behaviour starts all chains.
pub fn run(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let finish = Finish::after(size.chains);
    let stopwatch = Stopwatch::default();
    let (started, finished) = (stopwatch.clone(), finish.clone());
    when(Cown::new(()), move |_| {
        started.start();
        for _ in 0..size.chains {
            next(Cown::new(Chain { done: 0, size, finish: finished.clone() }));
        }
    });
    let (elapsed, pieces) = stopwatch.until(&finish);
    Measured::new(elapsed, size.total(), pieces)
}
