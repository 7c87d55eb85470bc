//! A tokio runtime, on which also kameo and ractor run.

use coact_bench_workloads::{Finish, Measured, Stopwatch};
use tokio::runtime::{Builder, Runtime};

/// As many threads as workers; no driver of I/O, and one of time only where tasks sleep, for it
/// makes an idle worker's waiting dearer.
///
/// It is never shut down: the process ends with the answer.
pub fn start(workers: usize) -> anyhow::Result<&'static Runtime> {
    let runtime = Builder::new_multi_thread().worker_threads(workers).build()?;
    Ok(Box::leak(Box::new(runtime)))
}

/// The same with a timer.
pub fn start_with_time(workers: usize) -> anyhow::Result<&'static Runtime> {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(workers).enable_time().build()?;
    Ok(Box::leak(Box::new(runtime)))
}

/// Runs a program: `start` as a task, and then until this number of parts have told their results.
pub fn run<F: Future<Output = ()> + Send + 'static>(
    runtime: &Runtime,
    operations: u64,
    parts: u64,
    start: impl FnOnce(Finish) -> F + Send + 'static,
) -> Measured {
    let (finish, stopwatch) = (Finish::after(parts), Stopwatch::default());
    let (finished, started) = (finish.clone(), stopwatch.clone());
    runtime.spawn(async move {
        started.start();
        start(finished).await;
    });
    let (elapsed, result) = stopwatch.until(&finish);
    Measured::new(elapsed, operations, result)
}
