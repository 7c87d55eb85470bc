//! Skynet: a tree with ten children a node; the leaves are numbered, and the numbers are summed on
//! the way up.

use crate::workload::Setup;

/// Children of a node.
pub const WIDTH: u64 = 10;

/// Leaves of the tree: a power of ten, a million at the full size.
pub fn leaves(setup: &Setup) -> u64 {
    let wanted = setup.scaled_at_least(1_000_000, WIDTH);
    WIDTH.pow(wanted.ilog10())
}

/// Nodes of a tree with this many leaves.
pub fn nodes(leaves: u64) -> u64 {
    if leaves == 1 { 1 } else { leaves + nodes(leaves / WIDTH) }
}

/// The sum of the leaves' numbers.
pub fn sum(leaves: u64) -> u64 {
    leaves * (leaves - 1) / 2
}

/// The numbers that the children of a node start at.
#[inline]
pub fn children(first: u64, leaves: u64) -> impl Iterator<Item = u64> {
    (0..WIDTH).map(move |child| first + child * (leaves / WIDTH))
}

/// The sum that a node waits for.
pub struct Sum {
    total: u64,
    missing: u64,
}

impl Sum {
    /// None of it is there.
    #[inline]
    #[expect(clippy::new_without_default, reason = "a default sum would be one of nothing")]
    pub fn new() -> Sum {
        Sum { total: 0, missing: WIDTH }
    }

    /// Adds a child's sum; after the last child there is a total.
    #[inline]
    pub fn add(&mut self, sum: u64) -> Option<u64> {
        self.total += sum;
        self.missing -= 1;
        (self.missing == 0).then_some(self.total)
    }
}
