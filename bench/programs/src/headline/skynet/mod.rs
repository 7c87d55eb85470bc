//! A tree of actors with ten children each; the leaves are numbered, and the numbers are summed on the way up.

mod actor;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Unit, Workload};

/// Children of an actor.
const WIDTH: u64 = 10;

/// Leaves of the tree: a power of ten.
fn leaves(setup: &Setup) -> u64 {
    let wanted = setup.scaled_at_least(1_000_000, WIDTH);
    WIDTH.pow(wanted.ilog10())
}

/// Actors of a tree with this many leaves.
fn actors(leaves: u64) -> u64 {
    if leaves == 1 { 1 } else { leaves + actors(leaves / WIDTH) }
}

fn sum(setup: &Setup) -> u64 {
    let leaves = leaves(setup);
    leaves * (leaves - 1) / 2
}

/// The tree stays.
pub struct Skynet;

impl Workload for Skynet {
    fn name(&self) -> &'static str {
        "skynet"
    }

    fn about(&self) -> &'static str {
        "a ten-way tree of 1,111,111 actors is made, and its leaves' numbers summed up to the root; the whole"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn unit(&self) -> Unit {
        Unit::Seconds
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("leaves", leaves(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the sum of the leaves", sum(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "an actor has its children's addresses, and they live as long",
            run: |setup| actor::kept(setup, leaves(setup)),
        }]
    }
}

/// Each actor ends once it has answered.
pub struct SkynetStop;

impl Workload for SkynetStop {
    fn name(&self) -> &'static str {
        "skynet-stop"
    }

    fn about(&self) -> &'static str {
        "the same, and each actor ends once it has answered; the whole, until all have ended"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn unit(&self) -> Unit {
        Unit::Seconds
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        Skynet.parameters(setup)
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        Skynet.check(setup, measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "a child's address is dropped at once, and so it ends after its work",
            run: |setup| actor::ended(setup, leaves(setup)),
        }]
    }
}
