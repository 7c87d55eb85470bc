//! An account is a tokio mutex; the lower number is locked first.

use std::sync::Arc;

use coact_bench_workloads::{Given, Measured};
use tokio::sync::Mutex;

use super::common::{Account, Size, Transfer};
use crate::runtime;

/// A task a teller.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.transfers, 1, move |finish| async move {
        let accounts: Arc<[_]> = (0..size.accounts).map(|_| Mutex::new(size.open())).collect();
        let tellers: Vec<_> = (0..size.tellers)
            .map(|number| tokio::spawn(teller(Arc::clone(&accounts), size, number)))
            .collect();
        for teller in tellers {
            teller.await.expect("no teller panics");
        }
        let mut sum = 0;
        for account in accounts.iter() {
            sum += account.lock().await.balance;
        }
        finish.part(sum);
    }))
}

async fn teller(accounts: Arc<[Mutex<Account>]>, size: Size, number: u64) {
    for Transfer { from, to, amount } in size.transfers_of(number) {
        let mut less = accounts[from.min(to)].lock().await;
        let mut greater = accounts[from.max(to)].lock().await;
        if from < to {
            size.transfer(&mut less, &mut greater, amount);
        } else {
            size.transfer(&mut greater, &mut less, amount);
        }
    }
}
