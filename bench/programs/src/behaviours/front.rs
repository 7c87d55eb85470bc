//! An account is a cown, a request a behaviour on two.

use std::sync::Arc;

use coact::call_here;
use coact::prelude::{Cown, Runtime, call};
use coact_bench_workloads::work::bank::{Account, Transfer, digest};
use coact_bench_workloads::work::front::{Size, drive_on, handle, tokio};
use coact_bench_workloads::{Given, Measured};

use crate::runtime;

type Accounts = Arc<[Cown<Account>]>;

/// The task does it itself, unless another one is at it.
pub fn here(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    run(given, size, |accounts, Transfer { from, to, amount }| {
        let answer =
            call_here((&accounts[from], &accounts[to]), move |(from, to)| handle(from, to, amount));
        async { answer.await.expect("it is handled") }
    })
}

/// A worker does it.
pub fn asked(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    run(given, size, by_a_worker)
}

/// A worker does it, on the thread of the task that asks, or on another of tokio's.
pub fn hosted(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    let tokio = tokio(given.workers()?, size).expect("tokio starts its threads");
    let spawner = tokio.handle().clone();
    let builder = Runtime::builder().workers(given.workers()?).name("bench");
    let builder = builder.on_executor(move |worker| drop(spawner.spawn(worker)));
    run_on(&builder.build().expect("a runtime starts"), &tokio, size, by_a_worker)
}

fn by_a_worker(
    accounts: &Accounts,
    Transfer { from, to, amount }: Transfer,
) -> impl Future<Output = i64> + Send + use<> {
    let answer = call((&accounts[from], &accounts[to]), move |(from, to)| handle(from, to, amount));
    async { answer.await.expect("it is handled") }
}

fn run<F>(
    given: &Given,
    size: Size,
    request: fn(&Accounts, Transfer) -> F,
) -> anyhow::Result<Measured>
where
    F: Future<Output = i64> + Send + 'static,
{
    let tokio = tokio(given.workers()?, size).expect("tokio starts its threads");
    run_on(&runtime::coact(given)?, &tokio, size, request)
}

fn run_on<F>(
    runtime: &Runtime,
    tokio: &tokio::runtime::Runtime,
    size: Size,
    request: fn(&Accounts, Transfer) -> F,
) -> anyhow::Result<Measured>
where
    F: Future<Output = i64> + Send + 'static,
{
    let _entered = runtime.enter();
    let accounts: Accounts = (0..size.accounts).map(|_| Cown::new(Account::default())).collect();
    let bank = Arc::clone(&accounts);
    let measured =
        drive_on(tokio, size, move |transfer| request(&bank, transfer)).expect("no task panics");
    let digest = call(&accounts[..], |accounts| digest(accounts.iter().copied()));
    Ok(Measured { result: digest.wait().expect("the audit runs"), ..measured })
}
