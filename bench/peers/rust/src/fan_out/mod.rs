//! Large messages to many receivers, each page shared and not copied.

mod actix;
mod common;
mod kameo;
mod ractor;
mod tokio;

use common::Size;

use coact_bench_workloads::Way;

const THIS: &[&str] = &["fan-out"];

/// Who does it. A part of it is enough where the whole would take a minute.
pub const WAYS: &[Way] = &[
    Way::new(THIS, "tokio", "a task and an unbounded mpsc a receiver, an `Arc` a page", |given| {
        tokio::run(given, Size::of(given)?)
    }),
    Way::new(THIS, "kameo", "an actor a receiver, an `Arc` a page", |given| {
        kameo::run(given, Size::of(given)?)
    })
    .share(10),
    Way::new(THIS, "ractor", "an actor a receiver, an `Arc` a page", |given| {
        ractor::run(given, Size::of(given)?)
    })
    .share(10),
    Way::new(THIS, "actix", "an actor a receiver, an `Arc` a page", |given| {
        Ok(actix::run(1, Size::of(given)?))
    }),
    Way::new(THIS, "actix-arbiters", "the same, the receivers dealt to the arbiters", |given| {
        Ok(actix::run(given.workers()?, Size::of(given)?))
    }),
];
