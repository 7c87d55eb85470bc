//! Things that are made and then have nothing to do: what does each cost in time and memory?

mod actors;
mod coact;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use ::coact::prelude::Cown;

use coact_bench_workloads::memory::{Begun, places};
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Implementation, Measured, Setup, Workload};

fn count(setup: &Setup) -> u64 {
    setup.scaled(1_000_000)
}

/// The three that are asked for their numbers in the end.
pub fn witnesses(count: u64) -> [u64; 3] {
    [0, count / 2, count - 1]
}

/// Makes them all, into memory that is already resident, and measures the time and the growth.
///
/// The result is left at zero, for the caller to fill in from the witnesses.
pub fn make<T>(count: u64, mut one: impl FnMut(u64) -> T) -> (Vec<Option<T>>, Measured) {
    let mut all = places(count);
    let begun = Begun::now();
    fill(&mut all, &mut one);
    (all, begun.measured(count))
}

fn fill<T>(all: &mut [Option<T>], one: &mut impl FnMut(u64) -> T) {
    for (number, place) in (0..).zip(all) {
        *place = Some(one(number));
    }
}

/// Idle cowns alive at once.
pub struct IdleCowns;

impl Workload for IdleCowns {
    fn name(&self) -> &'static str {
        "idle-cowns"
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
                about: "a cown in a cache line of its own, made in a behaviour",
                run: |setup| coact::run(setup, count(setup), Cown::new),
            },
            Implementation {
                name: "coact-packed",
                about: "a cown in no more memory than it takes",
                run: |setup| coact::run(setup, count(setup), Cown::packed),
            },
        ]
    }
}

/// Ends of actors.
pub struct ActorEnds;

impl Workload for ActorEnds {
    fn name(&self) -> &'static str {
        "actor-ends"
    }

    fn about(&self) -> &'static str {
        "the addresses of 1,000,000 idle actors are dropped, and all end; an end"
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("actors", count(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of dropped states", count(setup), measured)
    }

    fn implementations(&self) -> &'static [Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "the last address of each is dropped by an actor",
                run: |setup| actors::ended(setup, count(setup)),
            },
            Implementation {
                name: "coact-cowns",
                about: "the last handle of each is dropped in a behaviour",
                run: |setup| coact::ended(setup, count(setup)),
            },
        ]
    }
}

/// A state that is counted when it is dropped.
struct Counted(Arc<AtomicU64>);

impl Drop for Counted {
    fn drop(&mut self) {
        // ORDERING: Relaxed. Read when the runtime is idle, which orders all that has run before.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn all_dropped(since: Instant, count: u64, dropped: &AtomicU64) -> Measured {
    // ORDERING: Relaxed. The runtime was idle.
    Measured::new(since.elapsed(), count, dropped.load(Ordering::Relaxed))
}
