//! Work that has nothing to do with other work: how much faster does it get with more workers?

mod common;
mod threads;
mod tokio;

use coact_bench_workloads::Way;
use common::Size;

use crate::runtime;

const THIS: &[&str] = &["independent"];

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(THIS, "tokio", "a task a chain that yields after each piece", |given| {
        Ok(tokio::run(runtime::start(given.workers()?)?, Size::of(given)?))
    }),
    Way::new(THIS, "tokio-single", "the same on one worker", |given| {
        Ok(tokio::run(runtime::start(1)?, Size::of(given)?))
    }),
    Way::new(THIS, "threads", "the chains shared out among plain threads", |given| {
        Ok(threads::run(given.workers()?, Size::of(given)?))
    }),
    Way::new(THIS, "threads-single", "one plain thread", |given| {
        Ok(threads::run(1, Size::of(given)?))
    }),
];
