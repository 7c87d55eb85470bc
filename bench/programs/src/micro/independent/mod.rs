//! Work that has nothing to do with other work: how much faster does it get with more workers?

mod coact;

use coact_bench_workloads::random::spin;
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Implementation, Measured, Setup, Workload};

/// How many chains, pieces of work a chain, and arithmetic steps a piece.
#[derive(Clone, Copy)]
struct Size {
    chains: u64,
    pieces: u64,
    steps: u64,
}

impl Size {
    fn of(setup: &Setup) -> Size {
        Size { chains: 64, pieces: setup.scaled(100), steps: 20_000 }
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

/// Chains of work without anything shared.
pub struct Independent;

impl Workload for Independent {
    fn name(&self) -> &'static str {
        "independent"
    }

    fn about(&self) -> &'static str {
        "64 chains of 100 pieces of work on a processor; a piece; the ratio of single to all workers is the speed-up"
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let size = Size::of(setup);
        vec![("chains", size.chains), ("pieces", size.pieces), ("steps", size.steps)]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of pieces", Size::of(setup).total(), measured)
    }

    fn implementations(&self) -> &'static [Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "a cown a chain, a behaviour a piece",
                run: |setup| coact::run(setup, Size::of(setup)),
            },
            Implementation {
                name: "coact-single",
                about: "the same on one worker",
                run: |setup| coact::run(&setup.on(1), Size::of(setup)),
            },
        ]
    }
}
