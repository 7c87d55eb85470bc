//! One message of 4 KiB for ten thousand actors: does anybody copy it?

mod actor;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

#[derive(Clone, Copy)]
struct Size {
    receivers: u64,
    rounds: u64,
    bytes: u64,
}

impl Size {
    fn of(setup: &Setup) -> Size {
        Size { receivers: 10_000, rounds: setup.scaled(1_000), bytes: 4_096 }
    }

    fn messages(self) -> u64 {
        self.receivers * self.rounds
    }
}

/// To all, again and again.
pub struct FanOut;

impl Workload for FanOut {
    fn name(&self) -> &'static str {
        "fan-out"
    }

    fn about(&self) -> &'static str {
        "a message of 4 KiB goes to 10,000 actors, 1,000 times; one of the receptions"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let Size { receivers, rounds, bytes } = Size::of(setup);
        vec![("receivers", receivers), ("rounds", rounds), ("size", bytes)]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        let size = Size::of(setup);
        expect("the number of bytes", size.messages() * size.bytes, measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "`Shared`: a pointer each",
            run: |setup| actor::run(setup, Size::of(setup)),
        }]
    }
}
