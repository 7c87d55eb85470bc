//! Rings that are torn down and built again, beside a processor's heavy work.

mod actix;
mod common;
mod kameo;
mod ractor;
mod tokio;

use coact_bench_workloads::Way;
use coact_bench_workloads::work::mixed::MixedSizes;

const THIS: &[&str] = &["mixed"];

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(THIS, "tokio", "a task and an unbounded mpsc an actor", |given| {
        tokio::run(given, MixedSizes::of(given)?)
    }),
    Way::new(THIS, "kameo", "`tell` without waiting", |given| {
        kameo::run(given, MixedSizes::of(given)?)
    }),
    Way::new(THIS, "ractor", "`cast`", |given| ractor::run(given, MixedSizes::of(given)?)),
    Way::new(THIS, "actix", "all on one arbiter, `do_send`", |given| {
        Ok(actix::run(1, MixedSizes::of(given)?))
    }),
    Way::new(THIS, "actix-arbiters", "a ring and its worker an arbiter, by turns", |given| {
        Ok(actix::run(given.workers()?, MixedSizes::of(given)?))
    }),
];
