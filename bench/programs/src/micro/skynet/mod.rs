//! Skynet: a tree of cowns with ten children each; the leaves are numbered, and the numbers are summed on the way up.

mod coact;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Implementation, Measured, Setup, Unit, Workload};

/// Children of a node.
pub const WIDTH: u64 = 10;

/// Leaves of the tree: a power of ten.
fn leaves(setup: &Setup) -> u64 {
    let wanted = setup.scaled_at_least(1_000_000, WIDTH);
    WIDTH.pow(wanted.ilog10())
}

/// Nodes of a tree with this many leaves.
pub fn nodes(leaves: u64) -> u64 {
    if leaves == 1 { 1 } else { leaves + nodes(leaves / WIDTH) }
}

/// The numbers that the children of a node start at.
pub fn children(first: u64, leaves: u64) -> impl Iterator<Item = u64> {
    (0..WIDTH).map(move |child| first + child * (leaves / WIDTH))
}

/// The sum that a node waits for.
struct Sum {
    total: u64,
    missing: u64,
}

impl Sum {
    fn new() -> Sum {
        Sum { total: 0, missing: WIDTH }
    }

    /// Adds a child's sum; after the last child there is a total.
    fn add(&mut self, sum: u64) -> Option<u64> {
        self.total += sum;
        self.missing -= 1;
        (self.missing == 0).then_some(self.total)
    }
}

/// The whole tree, from the first cown to the sum at the root.
pub struct Skynet;

impl Workload for Skynet {
    fn name(&self) -> &'static str {
        "cown-skynet"
    }

    fn about(&self) -> &'static str {
        "a ten-way tree of 1,111,111 cowns is made, and its leaves' numbers summed up to the root; the whole"
    }

    fn unit(&self) -> Unit {
        Unit::Seconds
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("leaves", leaves(setup)), ("nodes", nodes(leaves(setup)))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        let leaves = leaves(setup);
        expect("the sum of the leaves", leaves * (leaves - 1) / 2, measured)
    }

    fn implementations(&self) -> &'static [Implementation] {
        &[Implementation {
            name: "coact",
            about: "a cown a node; a behaviour to make it, one to report",
            run: |setup| coact::run(setup, leaves(setup)),
        }]
    }
}
