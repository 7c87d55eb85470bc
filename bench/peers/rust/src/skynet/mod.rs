//! Skynet: a tree of actors with ten children each; the leaves are numbered, and the numbers are summed on the way up.

mod tokio;

use coact_bench::harness::program::Given;

use crate::way::Way;

fn leaves(given: &Given) -> anyhow::Result<u64> {
    given.number("leaves")
}

/// Who does it.
pub const WAYS: &[Way] = &[Way::new(
    &["cown-skynet", "actor-skynet"],
    "tokio",
    "a task and an unbounded mpsc a node; a node ends after its children",
    |given| tokio::ending(given, leaves(given)?),
)];
