//! Two actors, one message in flight.

mod actor;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

fn messages(setup: &Setup) -> u64 {
    setup.scaled(40_000)
}

/// To and fro.
pub struct PingPong;

impl Workload for PingPong {
    fn name(&self) -> &'static str {
        "ping-pong"
    }

    fn about(&self) -> &'static str {
        "two actors, one message in flight; a ping and its pong"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("messages", messages(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of pongs", messages(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "a message each way, between actors that know each other",
            run: |setup| {
                let messages = messages(setup);
                super::run(setup, messages, 1, move |done| actor::start(messages, done))
            },
        }]
    }
}
