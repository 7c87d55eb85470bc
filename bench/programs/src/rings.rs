//! Tokens that go round in rings; a ring of two is a pair that plays ping-pong.

use coact_bench_workloads::Given;

/// How many rings of how many nodes, and the tokens of each ring.
#[derive(Clone, Copy)]
pub struct Size {
    pub rings: usize,
    pub nodes: usize,
    pub tokens: usize,
    pub hops_each: u64,
}

impl Size {
    pub fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            rings: given.size("rings")?,
            nodes: given.size("nodes")?,
            tokens: given.size("tokens")?,
            hops_each: given.number("hops")?,
        })
    }

    pub fn all_tokens(self) -> u64 {
        (self.rings * self.tokens) as u64
    }

    pub fn total_hops(self) -> u64 {
        self.all_tokens() * self.hops_each
    }

    /// Where the tokens of a ring start: as far from each other as they can be.
    pub fn starts(self) -> impl Iterator<Item = usize> {
        (0..self.tokens).map(move |token| token * self.nodes / self.tokens)
    }
}
