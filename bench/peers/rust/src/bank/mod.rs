//! Transfers between two accounts of a bank, under ordered locks.

mod mutex;
pub mod tokio;

use coact_bench_workloads::Way;
use coact_bench_workloads::work::bank::Size;

const ALONE: &[&str] = &["transfers", "here-free"];

const CONTENDED: &[&str] = &["here-contended", "crowd"];

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(ALONE, "tokio", "one task locks two ordered tokio mutexes", |given| {
        tokio::run(given, Size::of(given)?)
    }),
    Way::new(ALONE, "mutex", "one thread locks two ordered std mutexes", |given| {
        Ok(mutex::run(Size::of(given)?))
    }),
    Way::new(&["transfers"], "mutex-parallel", "as many threads as workers lock them", |given| {
        Ok(mutex::run(Size { threads: given.number("workers")?, ..Size::of(given)? }))
    }),
    Way::new(CONTENDED, "tokio", "tasks lock two ordered tokio mutexes", |given| {
        tokio::run(given, Size::of(given)?)
    }),
    Way::new(CONTENDED, "mutex", "threads lock two ordered std mutexes", |given| {
        Ok(mutex::run(Size::of(given)?))
    }),
];
