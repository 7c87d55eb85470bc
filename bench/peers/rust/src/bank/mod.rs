//! Transfers between two accounts of a bank, under ordered locks.

mod mutex;
pub mod tokio;

use coact_bench_workloads::program::Given;
use coact_bench_programs::micro::bank::Size;

use crate::way::Way;

fn size(given: &Given) -> anyhow::Result<Size> {
    Ok(Size {
        accounts: given.number("accounts")?,
        transfers: given.number("transfers")?,
        threads: given.number("threads")?,
    })
}

const ALONE: &[&str] = &["transfers", "here-free"];

const CONTENDED: &[&str] = &["here-contended"];

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(ALONE, "tokio", "one task locks two ordered tokio mutexes", |given| {
        tokio::run(given, size(given)?)
    }),
    Way::new(ALONE, "mutex", "one thread locks two ordered std mutexes", |given| {
        Ok(mutex::run(size(given)?))
    }),
    Way::new(&["transfers"], "mutex-parallel", "as many threads as workers lock them", |given| {
        Ok(mutex::run(Size { threads: given.number("workers")?, ..size(given)? }))
    }),
    Way::new(CONTENDED, "tokio", "tasks lock two ordered tokio mutexes", |given| {
        tokio::run(given, size(given)?)
    }),
    Way::new(CONTENDED, "mutex", "threads lock two ordered std mutexes", |given| {
        Ok(mutex::run(size(given)?))
    }),
];
