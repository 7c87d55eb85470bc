//! Dining philosophers: each meal needs two forks, and each fork is wanted by two neighbours.

mod mutex;
mod tokio;

use coact_bench::harness::program::Given;

use crate::way::Way;

/// How many philosophers, and how often each eats.
#[derive(Clone, Copy)]
pub struct Size {
    philosophers: usize,
    meals_each: u64,
}

impl Size {
    fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            philosophers: given.size("philosophers")?,
            meals_each: given.number("meals_each")?,
        })
    }

    fn meals(self) -> u64 {
        self.philosophers as u64 * self.meals_each
    }

    /// The forks of a philosopher, in the order in which they are taken.
    fn forks(self, philosopher: usize) -> (usize, usize) {
        let other = (philosopher + 1) % self.philosophers;
        (philosopher.min(other), philosopher.max(other))
    }
}

/// A fork; it counts its uses.
#[derive(Default)]
struct Fork {
    uses: u64,
}

const COWNS: &[&str] = &["cown-dining"];

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(COWNS, "tokio", "a task a philosopher, two ordered tokio mutexes", |given| {
        tokio::run(given, Size::of(given)?)
    }),
    Way::new(COWNS, "mutex", "a thread a philosopher, two ordered std mutexes", |given| {
        Ok(mutex::run(Size::of(given)?))
    }),
];
