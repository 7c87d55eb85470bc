//! An account is a cown, and a transfer one behaviour on two of them: atomic, and in the order of
//! its teller.

use std::sync::Arc;
use std::time::Duration;

use coact::prelude::*;
use coact_bench_workloads::random;
use coact_bench_workloads::{Given, Measured};

use crate::tellers::{self, Audit, Size, Transfer};

struct Account {
    balance: i64,
    closed: bool,
}

/// What is left to do in the end.
struct Closing {
    /// Tellers who have not spawned all of their transfers.
    tellers: u64,
    audit: Option<Audit>,
}

/// Without work.
pub fn reasonable(given: &Given) -> anyhow::Result<Measured> {
    tellers::reasonable(given, start)
}

/// With some in each transfer.
pub fn busy(given: &Given) -> anyhow::Result<Measured> {
    tellers::busy(given, start)
}

/// Makes the accounts, and has the tellers begin.
pub fn start(size: Size, audit: Audit) {
    let account = |_| Cown::new(Account { balance: size.start, closed: false });
    let accounts: Arc<[_]> = (0..size.accounts).map(account).collect();
    let closing = Cown::new(Closing { tellers: size.tellers, audit: Some(audit) });
    for teller in 0..size.tellers {
        let (accounts, closing) = (Arc::clone(&accounts), closing.clone());
        when(Cown::new(()), move |_| {
            for Transfer { from, to, amount } in size.transfers_of(teller) {
                when((&accounts[from], &accounts[to]), move |(from, to)| {
                    transfer(from, to, amount, size.work);
                });
            }
            when(&closing, move |closing| closing.leave(&accounts));
        });
    }
}

fn transfer(from: &mut Account, to: &mut Account, amount: i64, work: Duration) {
    random::busy(work);
    if !from.closed && !to.closed && from.balance >= amount {
        from.balance -= amount;
        to.balance += amount;
    }
}

impl Closing {
    /// After the last teller the accounts are looked at: behind all that has been spawned on them.
    fn leave(&mut self, accounts: &[Cown<Account>]) {
        self.tellers -= 1;
        if self.tellers == 0 {
            let audit = self.audit.take().expect("there is one last teller");
            when(accounts, |accounts| {
                audit(accounts.iter().map(|account| account.balance).collect());
            });
        }
    }
}
