//! Tasks that use one cache, sleep, and use it again.

mod actix;
mod kameo;
mod mutex;
mod ractor;
mod tokio;

use coact_bench_workloads::Way;
use coact_bench_workloads::work::cache::{Cache, CacheSizes};

const THIS: &[&str] = &["cache-calc-8", "cache-calc-64"];

/// Who does it. Tokio sleeps for whole milliseconds.
pub const WAYS: &[Way] = &[
    Way::new(THIS, "tokio", "tasks; the cache is one too: mpsc there, oneshot back", |given| {
        tokio::run(given, CacheSizes::of(given)?)
    }),
    Way::new(THIS, "kameo", "tokio tasks ask an actor", |given| {
        kameo::run(given, CacheSizes::of(given)?)
    }),
    Way::new(THIS, "ractor", "tokio tasks call an actor", |given| {
        ractor::run(given, CacheSizes::of(given)?)
    }),
    Way::new(THIS, "actix", "futures on the arbiter of the actor that they ask", |given| {
        Ok(actix::run(1, CacheSizes::of(given)?))
    }),
    Way::new(THIS, "actix-arbiters", "futures, dealt to the arbiters, ask an actor", |given| {
        Ok(actix::run(given.workers()?, CacheSizes::of(given)?))
    }),
    Way::new(THIS, "mutex", "tokio tasks and a std mutex", |given| {
        mutex::blocking::<std::sync::Mutex<Cache>>(given, CacheSizes::of(given)?)
    }),
    Way::new(THIS, "mutex-parking", "tokio tasks and a parking_lot mutex", |given| {
        mutex::blocking::<parking_lot::Mutex<Cache>>(given, CacheSizes::of(given)?)
    }),
    Way::new(THIS, "mutex-tokio", "tokio tasks and a tokio mutex", |given| {
        mutex::tokio(given, CacheSizes::of(given)?)
    }),
];
