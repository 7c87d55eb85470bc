//! A million actors that have nothing to do: what does each cost in time and memory?

mod actor;
mod cown;

use coact::prelude::Promise;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

fn count(setup: &Setup) -> u64 {
    setup.scaled(1_000_000)
}

/// How many of them know their number; asked a few at a time, for the peak of the memory is theirs.
fn alive<T>(all: &[Option<T>], ask: impl Fn(&T) -> Promise<u64>) -> u64 {
    let mut numbers = 0..;
    all.chunks(1_000)
        .map(|some| {
            let asks: Vec<_> = some.iter().flatten().map(&ask).collect();
            let right = asks
                .into_iter()
                .zip(&mut numbers)
                .filter_map(|(ask, number)| (ask.wait() == Ok(number)).then_some(()));
            right.count() as u64
        })
        .sum()
}

/// Idle actors alive at once.
pub struct Spawn;

impl Workload for Spawn {
    fn name(&self) -> &'static str {
        "spawn"
    }

    fn about(&self) -> &'static str {
        "1,000,000 actors of a u64 are spawned, and idle once all have started; an actor, and the bytes of each"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("actors", count(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of actors", count(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "an actor, spawned in a behaviour",
                run: |setup| actor::run(setup, count(setup)),
            },
            Implementation {
                name: "coact-cowns",
                about: "a cown and an empty behaviour on it, made in a behaviour",
                run: |setup| cown::run(setup, count(setup)),
            },
        ]
    }
}
