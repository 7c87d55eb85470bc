//! An account is a cown.

use coact::prelude::{Cown, call, when, when_here};
use coact_bench_workloads::threads;
use coact_bench_workloads::work::bank::{Account, Size, Transfer, digest};
use coact_bench_workloads::{Finish, Given, Measured, Stopwatch};

use crate::runtime;

fn open(size: Size) -> Vec<Cown<Account>> {
    (0..size.accounts).map(|_| Cown::new(Account::default())).collect()
}

/// One behaviour spawns a behaviour a transfer, on both accounts.
pub fn spawned(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    from_a_behaviour(given, size, |accounts, Transfer { from, to, amount }| {
        when((&accounts[from], &accounts[to]), move |(from, to)| {
            from.pay(amount);
            to.receive(amount);
        });
    })
}

/// One behaviour spawns two behaviours a transfer, on one account each.
pub fn singles(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    from_a_behaviour(given, size, |accounts, Transfer { from, to, amount }| {
        when(&accounts[from], move |from| from.pay(amount));
        when(&accounts[to], move |to| to.receive(amount));
    })
}

/// An audit over all accounts, spawned after all transfers, is the end of the run.
fn from_a_behaviour(
    given: &Given,
    size: Size,
    transfer: fn(&[Cown<Account>], Transfer),
) -> anyhow::Result<Measured> {
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let accounts = open(size);
    let (started, finished) = (stopwatch.clone(), finish.clone());
    when(Cown::new(()), move |_| {
        started.start();
        for order in Transfer::some(size, 0) {
            transfer(&accounts, order);
        }
        when(&accounts, move |accounts| finished.part(digest(accounts.iter().copied())));
    });
    let (elapsed, digest) = stopwatch.until(&finish);
    Ok(Measured::new(elapsed, size.transfers, digest))
}

/// A behaviour runs each transfer itself.
pub fn here_in_a_behaviour(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    from_a_behaviour(given, size, |accounts, Transfer { from, to, amount }| {
        when_here((&accounts[from], &accounts[to]), move |(from, to)| {
            from.pay(amount);
            to.receive(amount);
        });
    })
}

/// Plain threads run each transfer themselves where both accounts are free.
pub fn here(given: &Given) -> anyhow::Result<Measured> {
    by_threads(given, |accounts, Transfer { from, to, amount }| {
        when_here((&accounts[from], &accounts[to]), move |(from, to)| {
            from.pay(amount);
            to.receive(amount);
        });
    })
}

/// Plain threads spawn a behaviour a transfer, on both accounts.
pub fn spawned_by_threads(given: &Given) -> anyhow::Result<Measured> {
    by_threads(given, |accounts, Transfer { from, to, amount }| {
        when((&accounts[from], &accounts[to]), move |(from, to)| {
            from.pay(amount);
            to.receive(amount);
        });
    })
}

fn by_threads(given: &Given, transfer: fn(&[Cown<Account>], Transfer)) -> anyhow::Result<Measured> {
    let size = Size::of(given)?;
    let runtime = runtime::coact(given)?;
    let _entered = runtime.enter();
    let accounts = open(size);
    let start = threads::run(size.threads, |thread| {
        for order in Transfer::some(size, thread) {
            transfer(&accounts, order);
        }
    });
    // What has been scheduled comes before this.
    let digest = call(&accounts, |accounts| digest(accounts.iter().copied()))
        .wait()
        .expect("the audit runs");
    Ok(Measured::new(start.elapsed(), size.transfers, digest))
}
