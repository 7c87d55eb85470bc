//! An account is a tokio mutex; the lower number is locked first.

use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use super::{Account, Size, Transfer, digest};
use crate::harness::{Finish, Measured, Setup, Stopwatch};
use crate::workloads::runtime;

/// As many tasks as the size has threads.
pub fn run(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::tokio(setup);
    let finish = Finish::after(size.threads);
    let stopwatch = Stopwatch::default();
    let accounts: Arc<Vec<Mutex<Account>>> =
        Arc::new((0..size.accounts).map(|_| Mutex::default()).collect());
    stopwatch.start();
    for thread in 0..size.threads {
        let (accounts, finish) = (Arc::clone(&accounts), finish.clone());
        runtime.spawn(async move {
            for Transfer { from, to, amount } in Transfer::some(size, thread) {
                let (mut payer, mut receiver) = lock_both(&accounts, from, to).await;
                payer.pay(amount);
                receiver.receive(amount);
            }
            finish.part(0);
        });
    }
    let (elapsed, _) = stopwatch.until(&finish);
    let digest = digest(accounts.iter().map(|account| *account.blocking_lock()));
    Measured::new(elapsed, size.transfers, digest)
}

async fn lock_both(
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
