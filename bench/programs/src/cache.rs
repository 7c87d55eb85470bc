//! Tasks that use one cache, sleep, and use it again.

use coact_bench_workloads::work::cache::CacheSizes;
use coact_bench_workloads::{Finish, Given, Measured};

use crate::runtime;

/// Runs a form of it.
pub fn run(given: &Given, start: fn(CacheSizes, Finish)) -> anyhow::Result<Measured> {
    let sizes = CacheSizes::of(given)?;
    runtime::run(given, 2 * sizes.tasks, 1, move |done| start(sizes, done))
}
