//! Tokens that go round in rings; a ring of two is a pair that plays ping-pong.

mod actix;
mod crossbeam;
mod kameo;
mod ractor;
mod tokio;

use coact_bench::harness::program::Given;

use crate::way::Way;

/// How many rings of how many nodes, and the tokens of each ring.
#[derive(Clone, Copy)]
pub struct Size {
    rings: usize,
    nodes: usize,
    tokens: usize,
    hops_each: u64,
}

impl Size {
    fn rings(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            rings: given.size("rings")?,
            nodes: given.size("nodes")?,
            tokens: given.size("tokens")?,
            hops_each: given.number("hops")?,
        })
    }

    fn all_tokens(self) -> u64 {
        (self.rings * self.tokens) as u64
    }

    fn total_hops(self) -> u64 {
        self.all_tokens() * self.hops_each
    }

    /// Where the tokens of a ring start: as far from each other as they can be.
    fn starts(self) -> impl Iterator<Item = usize> {
        (0..self.tokens).map(move |token| token * self.nodes / self.tokens)
    }
}

const COWNS: &[&str] = &["cown-ring", "cown-pairs"];

const COWNS_IN_BULK: &[&str] = &["cown-pairs-bulk"];

const ACTORS: &[&str] = &["actor-ring", "actor-ping-pong", "actor-pairs"];

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(COWNS, "tokio", "a task and an unbounded mpsc a node", |given| {
        tokio::run(given, Size::rings(given)?)
    }),
    Way::new(COWNS_IN_BULK, "tokio", "a task and an unbounded mpsc a node", |given| {
        tokio::run(given, Size::rings(given)?)
    }),
    Way::new(COWNS, "crossbeam", "a thread and a channel a node", |given| {
        Ok(crossbeam::run(Size::rings(given)?))
    })
    .share(100),
    Way::new(COWNS_IN_BULK, "crossbeam", "a thread and a channel a node", |given| {
        Ok(crossbeam::run(Size::rings(given)?))
    })
    .share(10),
    Way::new(ACTORS, "tokio", "a task and an unbounded mpsc a node", |given| {
        tokio::run(given, Size::rings(given)?)
    }),
    Way::new(ACTORS, "kameo", "an actor a node, `tell` without waiting", |given| {
        kameo::run(given, Size::rings(given)?)
    })
    .share(10),
    Way::new(ACTORS, "ractor", "an actor a node, `cast`", |given| {
        ractor::run(given, Size::rings(given)?)
    })
    .share(10),
    Way::new(ACTORS, "actix", "an actor a node, all on one arbiter, `do_send`", |given| {
        Ok(actix::together(1, Size::rings(given)?))
    }),
    Way::new(ACTORS, "actix-arbiters", "neighbours on different arbiters, `do_send`", |given| {
        Ok(actix::apart(given.workers()?, Size::rings(given)?))
    })
    .share(10),
];
