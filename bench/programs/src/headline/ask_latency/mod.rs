//! An actor asks another one, again and again, each time waiting for the answer.

mod asked;
mod message;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

fn asks(setup: &Setup) -> u64 {
    setup.scaled(1_000_000)
}

/// Sequential round trips.
pub struct AskLatency;

impl Workload for AskLatency {
    fn name(&self) -> &'static str {
        "ask-latency"
    }

    fn about(&self) -> &'static str {
        "an actor asks another one and waits for the answer, 1,000,000 times; a round trip"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("asks", asks(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of answers", asks(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "`Context::ask`: the answer comes back to the asker, as a message does",
                run: |setup| asked::by_an_actor(setup, asks(setup)),
            },
            Implementation {
                name: "coact-grouped",
                about: "the same, with both in one group",
                run: |setup| asked::in_a_group(setup, asks(setup)),
            },
            Implementation {
                name: "coact-task",
                about: "a future asks, and awaits each answer",
                run: |setup| asked::by_a_task(setup, asks(setup)),
            },
            Implementation {
                name: "coact-messages",
                about: "a message there, with the asker's address in it, and a message back",
                run: |setup| message::run(setup, asks(setup)),
            },
        ]
    }
}
