//! Dining philosophers: each meal needs two forks, and each fork is wanted by two neighbours.

mod coact;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Implementation, Measured, Setup, Workload};

/// Philosophers, and forks.
const SEATS: usize = 20;

/// A fork; it counts its uses.
#[derive(Default)]
struct Fork {
    uses: u64,
}

fn meals_each(setup: &Setup) -> u64 {
    setup.scaled(10_000)
}

fn meals(each: u64) -> u64 {
    SEATS as u64 * each
}

/// Meals of every philosopher, each started at the end of the one before.
pub struct Dining;

impl Workload for Dining {
    fn name(&self) -> &'static str {
        "cown-dining"
    }

    fn about(&self) -> &'static str {
        "20 philosophers have 10,000 meals each with two forks; a meal"
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("philosophers", SEATS as u64), ("meals_each", meals_each(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the uses of the forks", 2 * meals(meals_each(setup)), measured)
    }

    fn implementations(&self) -> &'static [Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "a behaviour a meal; each philosopher owns its handles",
                run: |setup| coact::owned(setup, meals_each(setup)),
            },
            Implementation {
                name: "coact-borrowed",
                about: "a behaviour a meal; the table is static, and no handle is cloned",
                run: |setup| coact::borrowed(setup, meals_each(setup)),
            },
        ]
    }
}
