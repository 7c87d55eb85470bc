//! Dining philosophers: each meal needs two forks, and each fork is wanted by two neighbours.

mod common;
mod mutex;
mod tokio;

use common::{Fork, Size};

use coact_bench_workloads::Way;

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
