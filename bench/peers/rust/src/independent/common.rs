//! What all who do it have in common.

use coact_bench_workloads::Given;
use coact_bench_workloads::random::spin;

/// How many chains, pieces of work a chain, and arithmetic steps a piece.
#[derive(Clone, Copy)]
pub struct Size {
    pub chains: u64,
    pub pieces: u64,
    pub steps: u64,
}

impl Size {
    pub fn of(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            chains: given.number("chains")?,
            pieces: given.number("pieces")?,
            steps: given.number("steps")?,
        })
    }

    pub fn total(self) -> u64 {
        self.chains * self.pieces
    }

    /// Does one piece; says that one has been done.
    pub fn work(self) -> u64 {
        spin(self.steps);
        1
    }
}
