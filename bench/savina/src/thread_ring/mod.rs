//! A token goes round a ring.

mod actor;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

const ACTORS: u64 = 100;

fn hops(setup: &Setup) -> u64 {
    setup.scaled(100_000)
}

/// One token.
pub struct ThreadRing;

impl Workload for ThreadRing {
    fn name(&self) -> &'static str {
        "thread-ring"
    }

    fn about(&self) -> &'static str {
        "a token goes round a ring of 100 actors; a hop"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("actors", ACTORS), ("hops", hops(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of hops", hops(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "a message a hop",
            run: |setup| {
                let hops = hops(setup);
                super::run(setup, hops, 1, move |done| actor::start(ACTORS, hops, done))
            },
        }]
    }
}
