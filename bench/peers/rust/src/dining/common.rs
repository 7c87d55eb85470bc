//! What all who do it have in common.

use std::time::Duration;

use coact_bench_workloads::Given;
use coact_bench_workloads::random::busy;

/// How many philosophers, how often each eats, and for how long.
#[derive(Clone, Copy)]
pub struct Size {
    pub philosophers: usize,
    pub meals_each: u64,
    pub work: Duration,
    /// What the result counts of each meal: itself, or its forks.
    pub counts: u64,
}

impl Size {
    pub fn micro(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            philosophers: given.size("philosophers")?,
            meals_each: given.number("meals_each")?,
            work: Duration::ZERO,
            counts: 2,
        })
    }

    pub fn scale(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            philosophers: given.size("philosophers")?,
            meals_each: given.number("meals")?,
            work: Duration::from_micros(given.number("work")?),
            counts: 1,
        })
    }

    pub fn meals(self) -> u64 {
        self.philosophers as u64 * self.meals_each
    }

    /// The result, from the uses of all forks.
    pub fn result(self, uses: u64) -> u64 {
        uses / 2 * self.counts
    }

    /// The forks of a philosopher, in the order in which they are taken.
    pub fn forks(self, philosopher: usize) -> (usize, usize) {
        let other = (philosopher + 1) % self.philosophers;
        (philosopher.min(other), philosopher.max(other))
    }

    /// A meal with two forks.
    pub fn eat(self, first: &mut Fork, second: &mut Fork) {
        busy(self.work);
        first.uses += 1;
        second.uses += 1;
    }
}

/// A fork; it counts its uses.
#[derive(Default)]
pub struct Fork {
    pub uses: u64,
}
