//! A task a call.

use tokio::task::JoinHandle;

use super::behaviours;
use crate::harness::{Finish, Measured, Setup, Stopwatch};
use crate::workloads::runtime;

/// A task cannot name its own type, so the recursion goes through this plain function.
fn request(number: u64) -> JoinHandle<u64> {
    tokio::spawn(async move {
        if number < 2 {
            return number;
        }
        let (left, right) = (request(number - 1), request(number - 2));
        left.await.expect("it answers") + right.await.expect("it answers")
    })
}

/// Asks for the number.
pub fn run(setup: &Setup, number: u64) -> Measured {
    let runtime = runtime::tokio(setup);
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let (started, finished) = (stopwatch.clone(), finish.clone());
    runtime.spawn(async move {
        started.start();
        finished.part(request(number).await.expect("it answers"));
    });
    let (elapsed, value) = stopwatch.until(&finish);
    Measured::new(elapsed, behaviours(number), value)
}
