//! The runtime that the implementations run on, with the settings that make it fast.

use coact::prelude::{Cown, Runtime, when};

use coact_bench_workloads::{Finish, Measured, Setup, Stopwatch};

/// A coact runtime.
pub fn coact(setup: &Setup) -> Runtime {
    Runtime::builder().workers(setup.workers).name("bench").build().expect("a runtime starts")
}

/// Runs a program on a coact runtime: calls `start` in a behaviour, and waits until as many parts as said have told
/// their results.
pub fn run(
    setup: &Setup,
    operations: u64,
    parts: u64,
    start: impl FnOnce(Finish) + Send + 'static,
) -> Measured {
    let runtime = coact(setup);
    let _entered = runtime.enter();
    let (finish, stopwatch) = (Finish::after(parts), Stopwatch::default());
    let (finished, started) = (finish.clone(), stopwatch.clone());
    when(Cown::new(()), move |_| {
        started.start();
        start(finished);
    });
    let (elapsed, result) = stopwatch.until(&finish);
    runtime.wait_idle();
    Measured::new(elapsed, operations, result)
}
