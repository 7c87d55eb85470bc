//! A cown a chain; each piece of work spawns the next.

use coact::prelude::{Cown, when};
use coact_bench_workloads::random::spin;
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::runtime;

/// How many chains, pieces of work a chain, and arithmetic steps a piece.
#[derive(Clone, Copy)]
struct Size {
    chains: u64,
    pieces: u64,
    steps: u64,
}

impl Size {
    fn of(given: &Given) -> anyhow::Result<Size> {
        let (chains, pieces) = (given.number("chains")?, given.number("pieces")?);
        Ok(Size { chains, pieces, steps: given.number("steps")? })
    }

    fn total(self) -> u64 {
        self.chains * self.pieces
    }

    /// Does one piece; says that one has been done.
    fn work(self) -> u64 {
        spin(self.steps);
        1
    }
}

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

/// On all workers.
pub fn run(given: &Given) -> anyhow::Result<Measured> {
    run_on(given.workers()?, Size::of(given)?)
}

/// On one.
pub fn run_single(given: &Given) -> anyhow::Result<Measured> {
    run_on(1, Size::of(given)?)
}

/// One behaviour starts all chains.
fn run_on(workers: usize, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::on(workers)?;
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
    Ok(Measured::new(elapsed, size.total(), pieces))
}
