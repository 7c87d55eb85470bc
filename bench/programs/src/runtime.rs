//! The runtime that the implementations run on, with the settings that make it fast.

use anyhow::Context;
use coact::prelude::{Cown, Runtime, when};
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

/// A coact runtime.
pub fn coact(given: &Given) -> anyhow::Result<Runtime> {
    on(given.workers()?)
}

/// A coact runtime with this many workers.
pub fn on(workers: usize) -> anyhow::Result<Runtime> {
    let runtime = Runtime::builder().workers(workers).name("bench").build();
    runtime.context("the runtime does not start")
}

/// Runs a program on a coact runtime: calls `start` in a behaviour, and waits until as many parts
/// as said have told their results.
pub fn run(
    given: &Given,
    operations: u64,
    parts: u64,
    start: impl FnOnce(Finish) + Send + 'static,
) -> anyhow::Result<Measured> {
    run_boxed(given, operations, parts, Box::new(start))
}

/// The same, compiled once: a behaviour of its own for each of the programs would be a tenth of all
/// code.
fn run_boxed(
    given: &Given,
    operations: u64,
    parts: u64,
    start: Box<dyn FnOnce(Finish) + Send>,
) -> anyhow::Result<Measured> {
    let runtime = coact(given)?;
    let _entered = runtime.enter();
    let (finish, stopwatch) = (Finish::after(parts), Stopwatch::default());
    let (finished, started) = (finish.clone(), stopwatch.clone());
    when(Cown::new(()), move |_| {
        started.start();
        start(finished);
    });
    let (elapsed, result) = stopwatch.until(&finish);
    runtime.wait_idle();
    Ok(Measured::new(elapsed, operations, result))
}
