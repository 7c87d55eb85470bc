//! Requests of a server whose tasks are another executor's: each of a tokio runtime's tasks has one
//! request after the other handled, an atomic step over two accounts, and waits for the answer.
//!
//! As in the other workloads with a bank the final balances do not depend on the order.

mod http;
mod size;

use std::hint::black_box;
use std::io;
use std::time::Instant;

use tokio::runtime::Runtime;

use super::bank::{Account, Transfer};
use crate::latency::Latencies;
use crate::workload::Measured;
pub use size::{Size, request};

/// What a request asks for: the receiver's new balance.
pub fn handle(from: &mut Account, to: &mut Account, amount: u64) -> i64 {
    from.pay(amount);
    to.receive(amount);
    to.balance()
}

/// A tokio runtime with this many threads. It knows sockets only if the requests come by them: one
/// that does waits by `epoll`, which the modelled machine has not.
///
/// # Errors
/// It could not be started.
pub fn tokio(threads: usize, size: Size) -> io::Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(threads);
    if size.http {
        builder.enable_io();
    }
    builder.build()
}

/// Has all requests handled by tasks of a tokio runtime with this many threads; the result is yet
/// to come.
///
/// # Errors
/// The runtime could not be started.
pub fn drive<H, F>(threads: usize, size: Size, handle: H) -> anyhow::Result<Measured>
where
    H: Fn(Transfer) -> F + Clone + Send + 'static,
    F: Future<Output = i64> + Send + 'static,
{
    drive_on(&tokio(threads, size)?, size, handle)
}

/// The same on a runtime that is there.
///
/// # Errors
/// A task has panicked.
pub fn drive_on<H, F>(runtime: &Runtime, size: Size, handle: H) -> anyhow::Result<Measured>
where
    H: Fn(Transfer) -> F + Clone + Send + 'static,
    F: Future<Output = i64> + Send + 'static,
{
    if size.http {
        return http::drive(runtime, size, handle);
    }
    let start = Instant::now();
    let tasks: Vec<_> = (0..size.tasks)
        .map(|task| {
            let handle = handle.clone();
            runtime.spawn(async move {
                let numbers = size.share_of(task);
                let mut latencies = Latencies::of_up_to(numbers.clone().count());
                for number in numbers {
                    let asked = Instant::now();
                    black_box(handle(size.request(number)).await);
                    latencies.note(asked.elapsed());
                }
                latencies
            })
        })
        .collect();
    let mut latencies = Latencies::of_up_to(size.requests as usize);
    runtime.block_on(async {
        for task in tasks {
            latencies.extend(task.await?);
        }
        anyhow::Ok(())
    })?;
    let measured = Measured::new(start.elapsed(), size.requests, 0);
    Ok(Measured { p99_ns: latencies.p99(), ..measured })
}
