//! An account is a tokio mutex; the lower number is locked first.

use std::sync::Arc;

use coact_bench_workloads::work::bank::{Account, Size, Transfer, digest};
use coact_bench_workloads::{Given, Measured};
use tokio::sync::{Mutex, MutexGuard};

use crate::runtime;

/// As many tasks as the size has threads.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    let accounts: Arc<Vec<Mutex<Account>>> =
        Arc::new((0..size.accounts).map(|_| Mutex::default()).collect());
    let bank = Arc::clone(&accounts);
    let measured = runtime::run(runtime, size.transfers, size.threads, move |finish| async move {
        for thread in 0..size.threads {
            let (bank, finish) = (Arc::clone(&bank), finish.clone());
            tokio::spawn(async move {
                for Transfer { from, to, amount } in Transfer::some(size, thread) {
                    let (mut payer, mut receiver) = lock_both(&bank, from, to).await;
                    payer.pay(amount);
                    receiver.receive(amount);
                }
                finish.part(0);
            });
        }
    });
    let result = digest(accounts.iter().map(|account| *account.blocking_lock()));
    Ok(Measured { result, ..measured })
}

/// The two accounts' guards, in the order asked for.
pub async fn lock_both(
    accounts: &[Mutex<Account>],
    first: usize,
    second: usize,
) -> (MutexGuard<'_, Account>, MutexGuard<'_, Account>) {
    if first < second {
        let guard = accounts[first].lock().await;
        (guard, accounts[second].lock().await)
    } else {
        let guard = accounts[second].lock().await;
        (accounts[first].lock().await, guard)
    }
}
