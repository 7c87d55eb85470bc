//! Makes many actors, each for one short computation.

mod actor;
mod full;

use std::hint::black_box;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

/// What each of them computes.
pub(super) fn computed() -> f64 {
    black_box(37.2_f64).sin().powi(2)
}

fn workers(setup: &Setup) -> u64 {
    setup.scaled(40_000)
}

/// Actors that are made, and end.
pub struct ForkJoinCreate;

impl Workload for ForkJoinCreate {
    fn name(&self) -> &'static str {
        "fork-join-create"
    }

    fn about(&self) -> &'static str {
        "an actor for each short computation; an actor"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("workers_n", workers(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the count of results above zero", workers(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "an actor each, which ends after its message",
                run: |setup| {
                    let workers = workers(setup);
                    super::run(setup, workers, workers, move |done| actor::start(workers, done))
                },
            },
            Implementation {
                name: "coact-full",
                about: "a cown each, which its behaviour takes along",
                run: |setup| {
                    let workers = workers(setup);
                    super::run(setup, workers, workers, move |done| full::start(workers, done))
                },
            },
        ]
    }
}
