//! Sorts values bit by bit as they pass through a chain of actors.

mod actor;

use coact_bench_workloads::random::R64;
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

const SEED: u64 = 2048;

/// Of a value; and the actors of the chain.
const BITS: u32 = 60;

fn values(setup: &Setup) -> u64 {
    setup.scaled(100_000)
}

fn expected(setup: &Setup) -> u64 {
    let mut list: Vec<u64> = R64::new(SEED).take(values(setup) as usize).collect();
    list.sort_unstable();
    let weighted = |(value, place): (u64, u64)| value.wrapping_mul(place);
    list.into_iter().zip(1..).map(weighted).fold(0, u64::wrapping_add)
}

/// A chain, one actor a bit.
pub struct RadixSort;

impl Workload for RadixSort {
    fn name(&self) -> &'static str {
        "radix-sort"
    }

    fn about(&self) -> &'static str {
        "values pass through 60 actors, each of which sorts by one bit; a value"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("values", values(setup)), ("seed", SEED)]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the digest of the values as they arrive", expected(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "a message a value and an actor",
            run: |setup| {
                let values = values(setup);
                super::run(setup, values, 1, move |done| actor::start(values as usize, SEED, done))
            },
        }]
    }
}
