//! Philosophers round a table, with a fork between each two of them.

mod actor;
mod full;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

const PHILOSOPHERS: u64 = 20;

/// Of each philosopher.
fn rounds(setup: &Setup) -> u64 {
    setup.scaled(10_000)
}

/// Meals with two forks each.
pub struct DiningPhilosophers;

impl Workload for DiningPhilosophers {
    fn name(&self) -> &'static str {
        "dining-philosophers"
    }

    fn about(&self) -> &'static str {
        "20 philosophers eat with two forks each; a meal"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("philosophers", PHILOSOPHERS), ("rounds", rounds(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of meals", PHILOSOPHERS * rounds(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "an arbiter has the forks; who is denied them asks again",
                run: |setup| {
                    let rounds = rounds(setup);
                    super::run(setup, PHILOSOPHERS * rounds, 1, move |done| {
                        actor::start(PHILOSOPHERS, rounds, done)
                    })
                },
            },
            Implementation {
                name: "coact-full",
                about: "a behaviour over both forks a meal",
                run: |setup| {
                    let rounds = rounds(setup);
                    super::run(setup, PHILOSOPHERS * rounds, PHILOSOPHERS, move |done| {
                        full::start(PHILOSOPHERS, rounds, done)
                    })
                },
            },
        ]
    }
}
