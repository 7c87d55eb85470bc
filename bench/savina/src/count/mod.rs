//! A producer, a counter, and a million increments.

mod actor;
mod full;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

fn messages(setup: &Setup) -> u64 {
    setup.scaled(1_000_000)
}

/// Increments, then a question.
pub struct Count;

impl Workload for Count {
    fn name(&self) -> &'static str {
        "count"
    }

    fn about(&self) -> &'static str {
        "a producer sends increments to a counter and asks for the count; an increment"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("messages", messages(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the count", messages(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "a message an increment",
                run: |setup| {
                    let messages = messages(setup);
                    super::run(setup, messages, 1, move |done| actor::start(messages, done))
                },
            },
            Implementation {
                name: "coact-full",
                about: "a behaviour an increment, and one over both at the end",
                run: |setup| {
                    let messages = messages(setup);
                    super::run(setup, messages, 1, move |done| full::start(messages, done))
                },
            },
        ]
    }
}
