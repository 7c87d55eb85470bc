//! Many to many: actors that ping each other at random.

mod actor;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

const ACTORS: u64 = 120;

/// Of each actor.
fn pings(setup: &Setup) -> u64 {
    setup.scaled(20_000)
}

/// Everybody with everybody.
pub struct Big;

impl Workload for Big {
    fn name(&self) -> &'static str {
        "big"
    }

    fn about(&self) -> &'static str {
        "120 actors ping one another, chosen at random; a ping and its pong"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("actors", ACTORS), ("pings", pings(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of right pongs", ACTORS * pings(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "a message each way",
            run: |setup| {
                let pings = pings(setup);
                super::run(setup, ACTORS * pings, 1, move |done| actor::start(ACTORS, pings, done))
            },
        }]
    }
}
