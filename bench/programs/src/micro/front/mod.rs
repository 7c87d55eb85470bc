//! Requests of a server whose tasks are another executor's: each of a tokio runtime's tasks has one request after the
//! other handled, an atomic step over two accounts, and waits for the answer.
//!
//! As in the other workloads with a bank the final balances do not depend on the order.

mod coact;
mod http;

use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::time::Instant;

use tokio::runtime::Runtime;

use super::bank::{Account, Transfer, digest, share};
use coact_bench_workloads::latency::Latencies;
use coact_bench_workloads::random::mix;
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Implementation, Measured, Setup, Workload};

/// Of this many requests one is for any account, the others for one of those that everybody wants.
const SKEW: u64 = 5;

/// How many accounts, tasks, and requests of all tasks.
#[derive(Clone, Copy)]
pub struct Size {
    /// Accounts.
    pub accounts: u64,
    /// The first of these, which most requests are for; all, if there are no such.
    pub wanted: u64,
    /// Tasks at the same time, each with an equal share of the requests.
    pub tasks: u64,
    /// Requests in all.
    pub requests: u64,
    /// Whether the tasks are connections of an HTTP server, and the requests come from clients.
    pub http: bool,
}

impl Size {
    fn uniform(setup: &Setup) -> Size {
        let tasks = 64;
        let requests = setup.scaled_at_least(1_000_000, tasks);
        Size { accounts: 1_000, wanted: 1_000, tasks, requests, http: false }
    }

    fn http(setup: &Setup) -> Size {
        let size = Size::uniform(setup);
        Size { requests: (size.requests / 5).max(size.tasks), http: true, ..size }
    }

    fn skewed(setup: &Setup) -> Size {
        Size { wanted: 8, ..Size::uniform(setup) }
    }

    fn parameters(self) -> Vec<(&'static str, u64)> {
        vec![
            ("accounts", self.accounts),
            ("wanted", self.wanted),
            ("tasks", self.tasks),
            ("requests", self.requests),
            ("http", self.http.into()),
        ]
    }

    /// The numbers of the requests of a task.
    fn share_of(self, task: u64) -> Range<u64> {
        share(self.requests, self.tasks, task)
    }

    /// The same number is the same request, whoever makes it.
    fn request(self, number: u64) -> Transfer {
        let among = if mix(number).is_multiple_of(SKEW) { self.accounts } else { self.wanted };
        Transfer::among(among, number)
    }

    /// What a plain loop makes of it.
    fn expected(self) -> u64 {
        let mut accounts = vec![Account::default(); self.accounts as usize];
        for number in 0..self.requests {
            let Transfer { from, to, amount } = self.request(number);
            accounts[from].pay(amount);
            accounts[to].receive(amount);
        }
        digest(accounts)
    }
}

/// What a request asks for: the receiver's new balance.
pub fn handle(from: &mut Account, to: &mut Account, amount: u64) -> i64 {
    from.pay(amount);
    to.receive(amount);
    to.balance()
}

/// A tokio runtime with this many threads.
///
/// # Errors
/// It could not be started.
pub fn tokio(threads: usize) -> io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_io().build()
}

/// Has all requests handled by tasks of a tokio runtime with this many threads; the result is yet to come.
///
/// # Errors
/// The runtime could not be started.
pub fn drive<H, F>(threads: usize, size: Size, handle: H) -> anyhow::Result<Measured>
where
    H: Fn(Transfer) -> F + Clone + Send + 'static,
    F: Future<Output = i64> + Send + 'static,
{
    drive_on(&tokio(threads)?, size, handle)
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

macro_rules! implementations {
    ($size:path) => {
        &[
            Implementation {
                name: "coact",
                about: "ask_here on both accounts: at once, in the task, if they are free",
                run: |setup| coact::here(setup, $size(setup)),
            },
            Implementation {
                name: "coact-ask",
                about: "ask on both accounts: a worker's turn",
                run: |setup| coact::asked(setup, $size(setup)),
            },
            Implementation {
                name: "coact-hosted",
                about: "the same, with workers on tokio's threads",
                run: |setup| coact::hosted(setup, $size(setup)),
            },
        ]
    };
}

workload!(
    /// Requests for any account.
    Front,
    "tokio-front",
    "the digest of the balances" = expected,
    Size::uniform,
    "64 tokio tasks each wait for one request after the other, a transfer between two of 1,000 accounts; a request",
    implementations!(Size::uniform)
);

workload!(
    /// Most of them for a few.
    FrontSkewed,
    "tokio-front-skewed",
    "the digest of the balances" = expected,
    Size::skewed,
    "the same with four fifths of the requests between two of 8 accounts; a request",
    implementations!(Size::skewed)
);

workload!(
    /// The same behind HTTP.
    FrontHttp,
    "http-front",
    "the digest of the balances" = expected,
    Size::http,
    "64 connections of an HTTP server on tokio each bring one request after the other for two of 1,000 accounts; a request",
    implementations!(Size::http)
);
