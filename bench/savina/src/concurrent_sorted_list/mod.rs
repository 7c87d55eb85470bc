//! A sorted list in an actor, with many readers and some writers.

mod actor;

use coact_bench_workloads::random::R16;
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

const WORKERS: u64 = 20;

/// What a worker does.
#[derive(Clone, Copy)]
struct Load {
    messages: u64,
    /// Of a hundred.
    writes: u32,
    /// Of a hundred.
    sizes: u32,
}

fn load(setup: &Setup) -> Load {
    Load { messages: setup.scaled(8_000), writes: 10, sizes: 1 }
}

/// The sum of the values that are added, in ascending order, each times its place.
fn weighted(load: Load) -> u64 {
    let mut values = Vec::new();
    for number in 1..=WORKERS as u32 {
        let mut random = R16::new(number);
        for _ in 0..load.messages {
            let what = random.below(100);
            if what < load.sizes {
                continue;
            }
            let value = random.next();
            if what < load.sizes + load.writes {
                values.push(u64::from(value));
            }
        }
    }
    values.sort_unstable();
    values.into_iter().zip(1..).map(|(value, place)| place * value).sum()
}

/// One list for all.
pub struct ConcurrentSortedList;

impl Workload for ConcurrentSortedList {
    fn name(&self) -> &'static str {
        "concurrent-sorted-list"
    }

    fn about(&self) -> &'static str {
        "20 workers ask a sorted list, a tenth of them to add; a question and its answer"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let Load { messages, writes, sizes } = load(setup);
        vec![
            ("workers_n", WORKERS),
            ("messages", messages),
            ("writes", u64::from(writes)),
            ("sizes", u64::from(sizes)),
        ]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the weighted sum of the list", weighted(load(setup)), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "an ask each, whose answer comes back as a message",
            run: |setup| {
                let load = load(setup);
                super::run(setup, WORKERS * load.messages, 1, move |done| {
                    actor::start(WORKERS, load, done)
                })
            },
        }]
    }
}
