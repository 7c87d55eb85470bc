//! What all who do it have in common.

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
    pub fn rings(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            rings: given.size("rings")?,
            nodes: given.size("nodes")?,
            tokens: given.size("tokens")?,
            hops_each: given.number("hops")?,
        })
    }

    /// One token a ring.
    pub fn nfold(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            rings: given.size("rings")?,
            nodes: given.size("nodes")?,
            tokens: 1,
            hops_each: given.number("hops")?,
        })
    }

    /// One message a pair.
    pub fn pairs(given: &Given) -> anyhow::Result<Size> {
        let (rings, hops_each) = (given.size("pairs")?, given.number("hops")?);
        Ok(Size { rings, nodes: 2, tokens: 1, hops_each })
    }

    /// Many messages a pair, half of them from either side.
    pub fn bulk(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { tokens: 2 * given.size("flight")?, ..Size::pairs(given)? })
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
