//! An account is a cown, a request a behaviour on two.

use std::sync::Arc;

use coact::prelude::{Cown, ask, ask_here};

use super::{Account, Size, Transfer, digest, drive, handle};
use crate::harness::{Measured, Setup};
use crate::workloads::runtime;

type Accounts = Arc<[Cown<Account>]>;

/// The task does it itself, unless another one is at it.
pub fn here(setup: &Setup, size: Size) -> Measured {
    run(setup, size, |accounts, Transfer { from, to, amount }| {
        let answer =
            ask_here((&accounts[from], &accounts[to]), move |(from, to)| handle(from, to, amount));
        async { answer.await.expect("it is handled") }
    })
}

/// A worker does it.
pub fn asked(setup: &Setup, size: Size) -> Measured {
    run(setup, size, |accounts, Transfer { from, to, amount }| {
        let answer =
            ask((&accounts[from], &accounts[to]), move |(from, to)| handle(from, to, amount));
        async { answer.await.expect("it is handled") }
    })
}

fn run<F>(setup: &Setup, size: Size, request: fn(&Accounts, Transfer) -> F) -> Measured
where
    F: Future<Output = i64> + Send + 'static,
{
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let accounts: Accounts = (0..size.accounts).map(|_| Cown::new(Account::default())).collect();
    let bank = Arc::clone(&accounts);
    let measured = drive(setup.workers, size, move |transfer| request(&bank, transfer))
        .expect("tokio starts its threads");
    let digest = ask(&accounts[..], |accounts| digest(accounts.iter().copied()));
    Measured { result: digest.wait().expect("the audit runs"), ..measured }
}
