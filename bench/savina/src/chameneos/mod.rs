//! Creatures that meet in a mall, two at a time, and change their colours.

mod actor;
mod full;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

const CREATURES: u64 = 100;

fn meetings(setup: &Setup) -> u64 {
    setup.scaled(200_000)
}

/// The colour of two creatures that have met, of the colours 0, 1 and 2: theirs, or the third one.
fn complement(one: u8, other: u8) -> u8 {
    if one == other { one } else { 3 - one - other }
}

/// Rendezvous.
pub struct Chameneos;

impl Workload for Chameneos {
    fn name(&self) -> &'static str {
        "chameneos"
    }

    fn about(&self) -> &'static str {
        "100 creatures meet in a mall, two at a time; a meeting"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("creatures", CREATURES), ("meetings", meetings(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the meetings, counted by both", 2 * meetings(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "the mall tells the first of the second, who is told the colour",
                run: |setup| {
                    let meetings = meetings(setup);
                    super::run(setup, meetings, CREATURES, move |done| {
                        actor::start(CREATURES, meetings, done)
                    })
                },
            },
            Implementation {
                name: "coact-full",
                about: "a behaviour over both creatures a meeting",
                run: |setup| {
                    let meetings = meetings(setup);
                    super::run(setup, meetings, CREATURES, move |done| {
                        full::start(CREATURES, meetings, done)
                    })
                },
            },
        ]
    }
}
