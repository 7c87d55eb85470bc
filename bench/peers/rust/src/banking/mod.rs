//! Transfers that check both accounts, by tellers each of whom keeps an order; without work, and
//! with some.

mod common;
mod mutex;
mod tokio;

use common::{Account, Size};

use coact_bench_workloads::Way;

type StdMutex = std::sync::Mutex<Account>;

type ParkingMutex = parking_lot::Mutex<Account>;

const REASONABLE: &[&str] = &["reasonable-banking"];

const BUSY: &[&str] = &["busy-banking"];

const STD: &str = "two ordered std mutexes; the tellers dealt to as many threads as workers";

const PARKING: &str =
    "two ordered parking_lot mutexes; tellers dealt to as many threads as workers";

const TOKIO: &str = "two ordered tokio mutexes; a task a teller";

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(REASONABLE, "mutex", STD, |given| {
        Ok(mutex::run::<StdMutex>(given.workers()?, Size::reasonable(given)?))
    }),
    Way::new(REASONABLE, "mutex-parking", PARKING, |given| {
        Ok(mutex::run::<ParkingMutex>(given.workers()?, Size::reasonable(given)?))
    }),
    Way::new(REASONABLE, "mutex-tokio", TOKIO, |given| tokio::run(given, Size::reasonable(given)?)),
    Way::new(BUSY, "mutex", STD, |given| {
        Ok(mutex::run::<StdMutex>(given.workers()?, Size::busy(given)?))
    }),
    Way::new(BUSY, "mutex-parking", PARKING, |given| {
        Ok(mutex::run::<ParkingMutex>(given.workers()?, Size::busy(given)?))
    }),
    Way::new(BUSY, "mutex-tokio", TOKIO, |given| tokio::run(given, Size::busy(given)?)),
];
