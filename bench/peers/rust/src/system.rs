//! An actix system: actors live on the one thread of an arbiter.

use std::future::pending;
use std::thread;

use actix::{Arbiter, ArbiterHandle, System};
use coact_bench_workloads::{Finish, Measured, Stopwatch};

/// The arbiters of a system, its own first.
#[derive(Clone)]
pub struct Arbiters(Vec<ArbiterHandle>);

impl Arbiters {
    /// The one that this number is dealt to.
    pub fn number(&self, number: usize) -> &ArbiterHandle {
        &self.0[number % self.0.len()]
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// Runs a program in a system with a number of arbiters, until all parts have told their results.
///
/// The system is never shut down: the process ends with the answer.
pub fn run(
    arbiters: usize,
    operations: u64,
    parts: u64,
    start: impl AsyncFnOnce(&Arbiters, Finish) + Send + 'static,
) -> Measured {
    let (finish, stopwatch) = (Finish::after(parts), Stopwatch::default());
    let (finished, started) = (finish.clone(), stopwatch.clone());
    thread::spawn(move || {
        System::new().block_on(async move {
            let more = (1..arbiters).map(|_| Arbiter::new().handle());
            let arbiters = Arbiters(std::iter::once(Arbiter::current()).chain(more).collect());
            started.start();
            start(&arbiters, finished).await;
            pending::<()>().await;
        });
    });
    let (elapsed, result) = stopwatch.until(&finish);
    Measured::new(elapsed, operations, result)
}
