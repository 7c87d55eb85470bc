//! Sorts a list by having others sort its parts.

mod actor;
mod full;

use std::iter::repeat_n;

use coact_bench_workloads::random::R64;
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

const SEED: u64 = 1024;

fn values(setup: &Setup) -> u64 {
    setup.scaled(1_000_000)
}

/// 2,048, but never so many that nothing is left to split.
fn threshold(setup: &Setup) -> u64 {
    (values(setup) / 8).clamp(1, 2048)
}

fn list(setup: &Setup) -> Vec<u64> {
    R64::new(SEED).take(values(setup) as usize).collect()
}

/// The value that a list was split at, and how often it was there.
type Pivots = (u64, usize);

/// Splits a list at the value in its middle, into those that are less and those that are greater.
fn split(mut list: Vec<u64>) -> (Vec<u64>, Pivots, Vec<u64>) {
    let (values, pivot) = (list.len(), list[list.len() / 2]);
    let mut less = 0;
    for place in 0..values {
        // Swapped in any case: as a branch, every second one would be foreseen wrongly.
        list.swap(less, place);
        less += usize::from(list[less] < pivot);
    }
    let mut greater = list.split_off(less);
    greater.retain(|&value| value != pivot);
    let equal = values - less - greater.len();
    (list, (pivot, equal), greater)
}

/// Puts the parts together again.
fn join(mut less: Vec<u64>, (pivot, equal): Pivots, mut greater: Vec<u64>) -> Vec<u64> {
    less.extend(repeat_n(pivot, equal));
    less.append(&mut greater);
    less
}

fn digest(list: &[u64]) -> u64 {
    let weighted = |(value, place): (&u64, u64)| value.wrapping_mul(place);
    list.iter().zip(1..).map(weighted).fold(0, u64::wrapping_add)
}

fn expected(setup: &Setup) -> u64 {
    let mut list = list(setup);
    list.sort_unstable();
    digest(&list)
}

/// Fork and join with lists that move.
pub struct Quicksort;

impl Workload for Quicksort {
    fn name(&self) -> &'static str {
        "quicksort"
    }

    fn about(&self) -> &'static str {
        "a list is split until the parts are small; a value"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("values", values(setup)), ("threshold", threshold(setup)), ("seed", SEED)]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the sorted list's digest", expected(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "an actor a list, which asks two for its parts",
                run: |setup| {
                    let (list, threshold) = (list(setup), threshold(setup) as usize);
                    let start = move |done| actor::start(list, threshold, done);
                    super::run(setup, values(setup), 1, start)
                },
            },
            Implementation {
                name: "coact-full",
                about: "a cown a list; a behaviour over two parts and the whole joins them",
                run: |setup| {
                    let (list, threshold) = (list(setup), threshold(setup) as usize);
                    let start = move |done| full::start(list, threshold, done);
                    super::run(setup, values(setup), 1, start)
                },
            },
        ]
    }
}
