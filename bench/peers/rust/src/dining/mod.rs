//! Dining philosophers: each meal needs two forks, and each fork is wanted by two neighbours.

mod mutex;
mod tokio;

use std::time::Duration;

use coact_bench_workloads::Given;
use coact_bench_workloads::Way;
use coact_bench_workloads::random::busy;

/// How many philosophers, how often each eats, and for how long.
#[derive(Clone, Copy)]
pub struct Size {
    philosophers: usize,
    meals_each: u64,
    work: Duration,
    /// What the result counts of each meal: itself, or its forks.
    counts: u64,
}

impl Size {
    fn micro(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            philosophers: given.size("philosophers")?,
            meals_each: given.number("meals_each")?,
            work: Duration::ZERO,
            counts: 2,
        })
    }

    fn scale(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            philosophers: given.size("philosophers")?,
            meals_each: given.number("meals")?,
            work: Duration::from_micros(given.number("work")?),
            counts: 1,
        })
    }

    fn meals(self) -> u64 {
        self.philosophers as u64 * self.meals_each
    }

    /// The result, from the uses of all forks.
    fn result(self, uses: u64) -> u64 {
        uses / 2 * self.counts
    }

    /// The forks of a philosopher, in the order in which they are taken.
    fn forks(self, philosopher: usize) -> (usize, usize) {
        let other = (philosopher + 1) % self.philosophers;
        (philosopher.min(other), philosopher.max(other))
    }

    /// A meal with two forks.
    fn eat(self, first: &mut Fork, second: &mut Fork) {
        busy(self.work);
        first.uses += 1;
        second.uses += 1;
    }
}

/// A fork; it counts its uses.
#[derive(Default)]
struct Fork {
    uses: u64,
}

type StdMutex = std::sync::Mutex<Fork>;

type ParkingMutex = parking_lot::Mutex<Fork>;

const COWNS: &[&str] = &["cown-dining"];

const SCALE: &[&str] = &["dining-scale"];

/// Who does it. More threads than workers would eat, by the clock, while they are interrupted.
pub const WAYS: &[Way] = &[
    Way::new(
        SCALE,
        "mutex",
        "as many threads as workers, each with neighbours; two ordered std mutexes",
        |given| Ok(mutex::run::<StdMutex>(given.workers()?, Size::scale(given)?)),
    ),
    Way::new(SCALE, "mutex-parking", "the same with mutexes of parking_lot", |given| {
        Ok(mutex::run::<ParkingMutex>(given.workers()?, Size::scale(given)?))
    }),
    Way::new(SCALE, "mutex-tokio", "a task a philosopher, two ordered tokio mutexes", |given| {
        tokio::run(given, Size::scale(given)?)
    }),
    Way::new(COWNS, "tokio", "a task a philosopher, two ordered tokio mutexes", |given| {
        tokio::run(given, Size::micro(given)?)
    }),
    Way::new(COWNS, "mutex", "a thread a philosopher, two ordered std mutexes", |given| {
        let size = Size::micro(given)?;
        Ok(mutex::run::<StdMutex>(size.philosophers, size))
    }),
];
