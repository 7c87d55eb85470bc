//! An arbiter that lets somebody smoke, and then somebody else.

mod actor;

use coact_bench_workloads::random::R16;
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

const SMOKERS: u64 = 200;

fn rounds(setup: &Setup) -> u64 {
    setup.scaled(1_000)
}

/// How long all smoke: every second number that is drawn.
fn smoked(rounds: u64) -> u64 {
    let mut random = R16::new(74_755);
    let mut steps = || {
        random.next();
        u64::from(random.next() % 1_000) + 10
    };
    (0..rounds).map(|_| steps()).sum()
}

/// One of many is told to work.
pub struct CigaretteSmokers;

impl Workload for CigaretteSmokers {
    fn name(&self) -> &'static str {
        "cigarette-smokers"
    }

    fn about(&self) -> &'static str {
        "an arbiter has one of 200 smokers smoke at a time; a round"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("smokers", SMOKERS), ("rounds", rounds(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the steps that were smoked", smoked(rounds(setup)), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "a message each way",
            run: |setup| {
                let rounds = rounds(setup);
                super::run(setup, rounds, 1, move |done| actor::start(SMOKERS, rounds, done))
            },
        }]
    }
}
