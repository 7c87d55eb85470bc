//! Things that are made and then have nothing to do: what does each cost in time and memory?

mod coact;
mod mutex;
mod tokio;

use std::time::Instant;

use crate::harness::memory::resident;
use crate::harness::workload::{Mismatch, expect};
use crate::harness::{Implementation, Measured, Setup, Workload};

fn count(setup: &Setup) -> u64 {
    setup.scaled(1_000_000)
}

/// The three that are asked for their numbers in the end.
fn witnesses(count: u64) -> [u64; 3] {
    [0, count / 2, count - 1]
}

/// Makes them all, into memory that is already resident, and measures the time and the growth.
///
/// The result is left at zero, for the caller to fill in from the witnesses.
fn make<T>(count: u64, mut one: impl FnMut(u64) -> T) -> (Vec<Option<T>>, Measured) {
    let mut all: Vec<Option<T>> = Vec::new();
    all.resize_with(count as usize, || None);
    let before = resident();
    let start = Instant::now();
    for (number, place) in (0..).zip(&mut all) {
        *place = Some(one(number));
    }
    let elapsed = start.elapsed();
    let growth = resident()
        .zip(before)
        .map(|(after, before)| after.saturating_sub(before) as f64 / count as f64);
    (all, Measured { bytes_each: growth, ..Measured::new(elapsed, count, 0) })
}

/// Idle cowns alive at once.
pub struct IdleCowns;

impl Workload for IdleCowns {
    fn name(&self) -> &'static str {
        "idle_cowns"
    }

    fn about(&self) -> &'static str {
        "1,000,000 idle cowns of a u64 are made and kept; a cown, and the bytes of each"
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("cowns", count(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the sum of the witnesses", witnesses(count(setup)).iter().sum(), measured)
    }

    fn implementations(&self) -> &'static [Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "a cown, made in a behaviour",
                run: |setup| coact::run(setup, count(setup)),
            },
            Implementation {
                name: "tokio",
                about: "a task that waits on an unbounded mpsc, spawned by a task",
                run: |setup| tokio::run(setup, count(setup)),
            },
            Implementation {
                name: "mutex",
                about: "an Arc of a std mutex: the least that can be shared",
                run: |setup| mutex::run(count(setup)),
            },
        ]
    }
}
