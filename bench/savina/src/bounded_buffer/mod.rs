//! Producers and consumers with a bounded buffer between them.

mod actor;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

/// How many there are of what.
#[derive(Clone, Copy)]
struct Sizes {
    producers: u64,
    consumers: u64,
    /// Of each producer.
    items: u64,
    buffer: u64,
    /// Hundreds of steps of work that an item takes, on each side.
    cost: u32,
}

impl Sizes {
    fn of(setup: &Setup) -> Sizes {
        Sizes { producers: 40, consumers: 40, items: setup.scaled(1_000), buffer: 50, cost: 25 }
    }

    fn items_in_all(&self) -> u64 {
        self.producers * self.items
    }
}

/// Demand and supply.
pub struct BoundedBuffer;

impl Workload for BoundedBuffer {
    fn name(&self) -> &'static str {
        "bounded-buffer"
    }

    fn about(&self) -> &'static str {
        "40 producers and 40 consumers that work, a buffer of 50 items between them; an item"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let Sizes { producers, consumers, items, buffer, cost } = Sizes::of(setup);
        vec![
            ("producers", producers),
            ("consumers", consumers),
            ("items", items),
            ("buffer", buffer),
            ("cost", u64::from(cost)),
        ]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        let items = Sizes::of(setup).items_in_all();
        expect("the sum of the items' numbers", items * (items - 1) / 2, measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "a manager queues the items, and keeps who has nothing to do",
            run: |setup| {
                let sizes = Sizes::of(setup);
                super::run(setup, sizes.items_in_all(), sizes.consumers, move |done| {
                    actor::start(sizes, done)
                })
            },
        }]
    }
}
