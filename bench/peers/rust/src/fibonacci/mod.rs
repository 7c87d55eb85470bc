//! Fork-join Fibonacci: hardly any work, so that the cost of a fork and a join shows.

mod tokio;

use coact_bench_workloads::Way;

/// Who does it.
pub const WAYS: &[Way] = &[Way::new(
    &["fork-join"],
    "tokio",
    "a task a call, joined by its handle; a task counts as two",
    |given| tokio::run(given, given.number("number")?),
)];
