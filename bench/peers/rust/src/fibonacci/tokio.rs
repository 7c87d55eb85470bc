//! A task a call.

use coact_bench_workloads::{Given, Measured};
use tokio::task::JoinHandle;

use crate::runtime;

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
pub fn run(given: &Given, number: u64) -> anyhow::Result<Measured> {
    let behaviours = 2 * given.number("calls")?;
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, behaviours, 1, move |finish| async move {
        finish.part(request(number).await.expect("it answers"));
    }))
}
