//! Tokens that go round in rings; a ring of two is a pair that plays ping-pong.

mod coact;
mod crossbeam;
mod tokio;

use crate::harness::workload::{Mismatch, expect};
use crate::harness::{Implementation, Measured, Setup, Workload};

/// How many rings of how many nodes, and the tokens of each ring.
#[derive(Clone, Copy)]
struct Size {
    rings: usize,
    nodes: usize,
    tokens: usize,
    hops_each: u64,
}

impl Size {
    fn ring(setup: &Setup) -> Size {
        Size { rings: 1, nodes: 100, tokens: 2, hops_each: setup.scaled(5_000_000) }
    }

    fn pairs(setup: &Setup) -> Size {
        Size { rings: 8, nodes: 2, tokens: 1, hops_each: setup.scaled(1_000_000) }
    }

    fn bulk(setup: &Setup) -> Size {
        Size { rings: 8, nodes: 2, tokens: 100, hops_each: setup.scaled(10_000) }
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

    fn parameters(self) -> Vec<(&'static str, u64)> {
        vec![
            ("rings", self.rings as u64),
            ("nodes", self.nodes as u64),
            ("tokens", self.tokens as u64),
            ("hops_each", self.hops_each),
        ]
    }
}

macro_rules! workload {
    ($(#[$doc:meta])* $workload:ident, $name:literal, $size:path, $crossbeam_share:literal, $about:literal) => {
        $(#[$doc])*
        pub struct $workload;

        impl Workload for $workload {
            fn name(&self) -> &'static str {
                $name
            }

            fn about(&self) -> &'static str {
                $about
            }

            fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
                $size(setup).parameters()
            }

            fn check(&self, _: &Setup, measured: &Measured) -> Result<(), Mismatch> {
                expect("the number of hops", measured.operations, measured)
            }

            fn implementations(&self) -> &'static [Implementation] {
                &[
                    Implementation {
                        name: "coact",
                        about: "a cown a node, a behaviour a hop",
                        run: |setup| coact::run(setup, $size(setup)),
                    },
                    Implementation {
                        name: "coact-grouped",
                        about: "the same, with the nodes of a ring in one group",
                        run: |setup| coact::run_grouped(setup, $size(setup)),
                    },
                    Implementation {
                        name: "tokio",
                        about: "a task and an unbounded mpsc a node",
                        run: |setup| tokio::run(setup, $size(setup)),
                    },
                    Implementation {
                        name: "crossbeam",
                        about: concat!("a thread and a channel a node; 1/", $crossbeam_share, " of the hops"),
                        run: |setup| crossbeam::run($size(&setup.share($crossbeam_share))),
                    },
                ]
            }
        }
    };
}

workload!(
    /// A long ring, hardly anything to do at once.
    Ring,
    "ring",
    Size::ring,
    100,
    "two tokens in a ring of 100; a hop"
);

workload!(
    /// Pairs, one message in flight in each.
    PingPong,
    "ping_pong",
    Size::pairs,
    100,
    "8 pairs, one message in flight in each; a message"
);

workload!(
    /// Pairs, many messages in flight in each.
    PingPongBulk,
    "ping_pong_bulk",
    Size::bulk,
    10,
    "8 pairs, 100 messages in flight in each; a message"
);
