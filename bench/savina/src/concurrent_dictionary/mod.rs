//! A map in an actor, with many readers and some writers.

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
}

fn load(setup: &Setup) -> Load {
    Load { messages: setup.scaled(10_000), writes: 10 }
}

/// The keys that are asked for: every second number that is drawn; the values are the same.
fn answers(load: Load) -> u64 {
    let of_worker = |number| {
        let mut random = R16::new(number);
        let mut key = || {
            random.next();
            u64::from(random.next())
        };
        (0..load.messages).map(|_| key()).sum::<u64>()
    };
    (1..=WORKERS as u32).map(of_worker).sum()
}

/// One map for all.
pub struct ConcurrentDictionary;

impl Workload for ConcurrentDictionary {
    fn name(&self) -> &'static str {
        "concurrent-dictionary"
    }

    fn about(&self) -> &'static str {
        "20 workers ask a dictionary, a tenth of them to write; a question and its answer"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let Load { messages, writes } = load(setup);
        vec![("workers_n", WORKERS), ("messages", messages), ("writes", u64::from(writes))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the sum of the answers", answers(load(setup)), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "an ask each, whose answer comes back as a message",
            run: |setup| {
                let (load, map) = (load(setup), actor::map());
                super::run(setup, WORKERS * load.messages, WORKERS, move |done| {
                    actor::start(map, WORKERS, load, done)
                })
            },
        }]
    }
}
