//! Tokens that go round in rings; a ring of two is a pair that plays ping-pong.

mod actors;
mod coact;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Implementation, Measured, Setup, Workload};

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

    fn two_rings(setup: &Setup) -> Size {
        Size { rings: 2, tokens: 1, ..Size::ring(setup) }
    }

    fn pairs(setup: &Setup) -> Size {
        Size { rings: 8, nodes: 2, tokens: 1, hops_each: setup.scaled(1_000_000) }
    }

    fn pair(setup: &Setup) -> Size {
        Size { rings: 1, nodes: 2, tokens: 1, hops_each: setup.scaled(5_000_000) }
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
            ("hops", self.hops_each),
        ]
    }
}

/// Cowns.
macro_rules! cowns {
    ($size:path) => {
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
        ]
    };
}

/// Actors, and the cowns that they are made of.
macro_rules! actors_and_cowns {
    ($size:path) => {
        &[
            Implementation {
                name: "coact",
                about: "an actor a node, a message a hop",
                run: |setup| actors::run(setup, $size(setup)),
            },
            Implementation {
                name: "coact-grouped",
                about: "the same, with the nodes of a ring in one group",
                run: |setup| actors::run_grouped(setup, $size(setup)),
            },
            Implementation {
                name: "coact-cowns",
                about: "a cown a node, a behaviour a hop",
                run: |setup| coact::run(setup, $size(setup)),
            },
        ]
    };
}

workload!(
    /// A long ring, hardly anything to do at once. Its tokens share the ring, so workers take the nodes from each other.
    Ring,
    "cown-ring",
    "the number of hops" = total_hops,
    Size::ring,
    "two tokens in a ring of 100; a hop",
    cowns!(Size::ring)
);

workload!(
    /// The same number of tokens, in rings that share nothing.
    Rings,
    "cown-rings",
    "the number of hops" = total_hops,
    Size::two_rings,
    "two rings of 100, one token in each; a hop",
    cowns!(Size::two_rings)
);

workload!(
    /// Pairs, one message in flight in each.
    PingPong,
    "cown-pairs",
    "the number of hops" = total_hops,
    Size::pairs,
    "8 pairs, one message in flight in each; a message",
    cowns!(Size::pairs)
);

workload!(
    /// Pairs, many messages in flight in each.
    PingPongBulk,
    "cown-pairs-bulk",
    "the number of hops" = total_hops,
    Size::bulk,
    "8 pairs, 100 messages in flight in each; a message",
    cowns!(Size::bulk)
);

workload!(
    /// The ring of actors.
    ActorRing,
    "actor-ring",
    "the number of hops" = total_hops,
    Size::ring,
    "two tokens in a ring of 100 actors; a hop",
    actors_and_cowns!(Size::ring)
);

workload!(
    /// Two actors.
    ActorPingPong,
    "actor-ping-pong",
    "the number of hops" = total_hops,
    Size::pair,
    "two actors, one message in flight; a message",
    actors_and_cowns!(Size::pair)
);

workload!(
    /// Pairs of actors.
    ActorPairs,
    "actor-pairs",
    "the number of hops" = total_hops,
    Size::pairs,
    "8 pairs of actors, one message in flight in each; a message",
    actors_and_cowns!(Size::pairs)
);
