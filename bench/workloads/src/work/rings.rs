//! Tokens that go round in rings; a ring of two is a pair that plays ping-pong.

use crate::program::Given;

/// How many rings of how many nodes, and the tokens of each ring.
#[derive(Clone, Copy)]
pub struct RingSizes {
    /// How many rings.
    pub rings: usize,
    /// How many nodes in each.
    pub nodes: usize,
    /// How many tokens in each.
    pub tokens: usize,
    /// How many hops each token makes.
    pub hops_each: u64,
}

impl RingSizes {
    /// Those of a run.
    pub fn rings(given: &Given) -> anyhow::Result<RingSizes> {
        Ok(RingSizes { tokens: given.size("tokens")?, ..RingSizes::nfold(given)? })
    }

    /// One token in each ring.
    pub fn nfold(given: &Given) -> anyhow::Result<RingSizes> {
        Ok(RingSizes {
            rings: given.size("rings")?,
            nodes: given.size("nodes")?,
            tokens: 1,
            hops_each: given.number("hops")?,
        })
    }

    /// One message in each pair.
    pub fn pairs(given: &Given) -> anyhow::Result<RingSizes> {
        let (rings, hops_each) = (given.size("pairs")?, given.number("hops")?);
        Ok(RingSizes { rings, nodes: 2, tokens: 1, hops_each })
    }

    /// Many messages in each pair, half of them from either side.
    pub fn bulk(given: &Given) -> anyhow::Result<RingSizes> {
        Ok(RingSizes { tokens: 2 * given.size("flight")?, ..RingSizes::pairs(given)? })
    }

    /// The tokens of all rings.
    pub fn all_tokens(self) -> u64 {
        (self.rings * self.tokens) as u64
    }

    /// The hops of all tokens.
    pub fn total_hops(self) -> u64 {
        self.all_tokens() * self.hops_each
    }

    /// Where the tokens of a ring start: as far from each other as they can be.
    pub fn starts(self) -> impl Iterator<Item = usize> {
        (0..self.tokens).map(move |token| token * self.nodes / self.tokens)
    }
}
