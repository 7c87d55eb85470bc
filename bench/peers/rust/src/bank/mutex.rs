//! An account is a standard mutex; the lower number is locked first.

use std::sync::{Mutex, MutexGuard, PoisonError};

use coact_bench_workloads::Measured;
use coact_bench_workloads::threads;
use coact_bench_workloads::work::bank::{Account, Size, Transfer, digest};

/// Plain threads.
pub fn run(size: Size) -> Measured {
    let accounts: Vec<Mutex<Account>> = (0..size.accounts).map(|_| Mutex::default()).collect();
    let start = threads::run(size.threads, |thread| {
        for Transfer { from, to, amount } in Transfer::some(size, thread) {
            let (mut payer, mut receiver) = lock_both(&accounts, from, to);
            payer.pay(amount);
            receiver.receive(amount);
        }
    });
    let elapsed = start.elapsed();
    Measured::new(elapsed, size.transfers, digest(accounts.iter().map(|account| *lock(account))))
}

fn lock(account: &Mutex<Account>) -> MutexGuard<'_, Account> {
    account.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lock_both(
    accounts: &[Mutex<Account>],
    first: usize,
    second: usize,
) -> (MutexGuard<'_, Account>, MutexGuard<'_, Account>) {
    if first < second {
        let guard = lock(&accounts[first]);
        (guard, lock(&accounts[second]))
    } else {
        let guard = lock(&accounts[second]);
        (lock(&accounts[first]), guard)
    }
}
