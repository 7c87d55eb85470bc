//! Eight rings, a token in each: what does a message cost that stays where it is?

mod actor;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Drawing, Group, Implementation, Measured, Setup, Workload};

const RINGS: u64 = 8;

/// Hops of a token.
fn hops(setup: &Setup) -> u64 {
    setup.scaled(500_000)
}

/// Rings of so many actors.
pub struct RingNfold<const NODES: u64> {
    /// The name of the workload, in which the number of all actors is, about.
    pub name: &'static str,
}

impl<const NODES: u64> Workload for RingNfold<NODES> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "8 rings of actors, one token in each; a hop"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn drawing(&self, _: &Setup) -> Drawing {
        Drawing::Actors { plot: "ring-nfold".to_owned(), actors: RINGS * NODES }
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("rings", RINGS), ("nodes", NODES), ("hops", hops(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of hops", RINGS * hops(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "the actors of a ring are a group",
                run: |setup| actor::grouped(setup, NODES, hops(setup)),
            },
            Implementation {
                name: "coact-ungrouped",
                about: "each actor for itself",
                run: |setup| actor::ungrouped(setup, NODES, hops(setup)),
            },
        ]
    }
}
