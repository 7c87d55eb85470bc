//! Producers that add to one counter.

use coact_bench_workloads::{Finish, Given};

/// How many producers, and how many adds each.
#[derive(Clone, Copy)]
pub struct Size {
    pub producers: u64,
    pub each: u64,
}

impl Size {
    pub fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { producers: given.number("producers")?, each: given.number("adds_each")? })
    }

    /// Of one that is asked for the sum in the end.
    pub fn asked(given: &Given) -> anyhow::Result<Size> {
        let producers = given.number("threads")?;
        Ok(Size { producers, each: given.number("messages")? / producers })
    }

    pub fn total(self) -> u64 {
        self.producers * self.each
    }
}

/// The state that is added to. The last add ends the run.
pub struct Counter {
    sum: u64,
    awaited: u64,
    finish: Finish,
}

impl Counter {
    pub fn new(size: Size, finish: &Finish) -> Counter {
        Counter { sum: 0, awaited: size.total(), finish: finish.clone() }
    }

    pub fn add(&mut self, amount: u64) {
        self.sum += amount;
        if self.sum == self.awaited {
            self.finish.part(self.sum);
        }
    }
}
