//! Work that has nothing to do with other work: how much faster does it get with more workers?

mod threads;
mod tokio;

use coact_bench_workloads::Given;
use coact_bench_workloads::Way;
use coact_bench_workloads::random::spin;

use crate::runtime;

/// How many chains, pieces of work a chain, and arithmetic steps a piece.
#[derive(Clone, Copy)]
pub struct Size {
    chains: u64,
    pieces: u64,
    steps: u64,
}

impl Size {
    fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            chains: given.number("chains")?,
            pieces: given.number("pieces")?,
            steps: given.number("steps")?,
        })
    }

    fn total(self) -> u64 {
        self.chains * self.pieces
    }

    /// Does one piece; says that one has been done.
    fn work(self) -> u64 {
        spin(self.steps);
        1
    }
}

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
