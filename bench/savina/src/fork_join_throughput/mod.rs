//! Messages to some actors in turn, as fast as they can be sent.

mod actor;
mod full;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

const ACTORS: u64 = 60;

fn messages(setup: &Setup) -> u64 {
    setup.scaled(10_000)
}

/// Messages that nobody answers.
pub struct ForkJoinThroughput;

impl Workload for ForkJoinThroughput {
    fn name(&self) -> &'static str {
        "fork-join-throughput"
    }

    fn about(&self) -> &'static str {
        "60 actors, each with a short computation for every message; a message"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("actors", ACTORS), ("messages", messages(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of messages handled", ACTORS * messages(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "a message each",
                run: |setup| {
                    let messages = messages(setup);
                    super::run(setup, ACTORS * messages, ACTORS, move |done| {
                        actor::start(ACTORS, messages, done);
                    })
                },
            },
            Implementation {
                name: "coact-full",
                about: "a behaviour each, and one over all cowns at the end",
                run: |setup| {
                    let messages = messages(setup);
                    super::run(setup, ACTORS * messages, 1, move |done| {
                        full::start(ACTORS, messages, done)
                    })
                },
            },
        ]
    }
}
