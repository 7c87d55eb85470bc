//! How much the peers do: less than ours, for an operation of theirs takes longer. Figures are times an operation.

use coact_bench::harness::{Finish, Measured, Setup};

/// One ring.
#[derive(Clone, Copy)]
pub struct Ring {
    /// Actors in it.
    pub nodes: usize,
    /// Tokens in it.
    pub tokens: usize,
    /// Hops of each token.
    pub hops_each: u64,
}

impl Ring {
    /// That of `actor_ring`.
    pub fn long(setup: &Setup) -> Ring {
        Ring { nodes: 100, tokens: 2, hops_each: setup.scaled(500_000) }
    }

    /// That of `actor_ping_pong`.
    pub fn pair(setup: &Setup) -> Ring {
        Ring { nodes: 2, tokens: 1, hops_each: setup.scaled(1_000_000) }
    }

    /// Where the tokens start: as far from each other as they can be.
    pub fn starts(self) -> impl Iterator<Item = usize> {
        (0..self.tokens).map(move |token| token * self.nodes / self.tokens)
    }

    /// Ends when all tokens have made their hops.
    pub fn finish(self) -> Finish {
        Finish::after(self.tokens as u64)
    }

    /// What came of it.
    pub fn measured(self, (elapsed, hops): (std::time::Duration, u64)) -> Measured {
        Measured::new(elapsed, self.tokens as u64 * self.hops_each, hops)
    }
}

/// Asks one after the other.
pub fn round_trips(setup: &Setup) -> u64 {
    setup.scaled(200_000)
}

/// Actors that have nothing to do.
pub fn idle(setup: &Setup) -> u64 {
    setup.scaled(100_000)
}
