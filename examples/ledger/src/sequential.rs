//! The reference: one operation after the other, on a plain table of accounts.

use std::time::Instant;

use crate::account::{Account, AccountId, Decision, audit, split, transfer};
use crate::ledger::Ledger;
use crate::operation::Operation;
use crate::progress::Progress;
use crate::replay::Replay;
use crate::work::Work;

/// Replays a ledger line by line, with `work` in each operation.
pub fn replay(ledger: &Ledger, work: Work) -> Replay {
    let mut progress = Progress::new("sequential", ledger.operations.len());
    let mut accounts = unopened(ledger.names.len());
    let mut decisions = Vec::with_capacity(ledger.operations.len());
    let start = Instant::now();
    for (_, operation) in &ledger.operations {
        work.perform();
        decisions.push(execute(operation, &mut accounts));
        progress.at(decisions.len());
    }
    Replay { decisions, accounts, elapsed: start.elapsed() }
}

/// `count` accounts that are not opened yet.
pub fn unopened(count: usize) -> Vec<Account> {
    (0..count as u32).map(|number| Account::unopened(AccountId(number))).collect()
}

/// Carries an operation out on a table of all accounts.
pub fn execute(operation: &Operation, accounts: &mut [Account]) -> Decision {
    match operation {
        Operation::Change(change, id) => accounts[id.index()].apply(*change),
        Operation::Transfer { amount, from, to } => {
            let pair = accounts.get_disjoint_mut([from.index(), to.index()]);
            let [from, to] = pair.expect("an operation names each account once");
            transfer(from, to, *amount)
        }
        Operation::Split { amount, from, to } => {
            // A slice cannot lend a varying number of its elements: the payees are copied.
            let mut payees: Vec<_> = to.iter().map(|id| accounts[id.index()]).collect();
            let mut lent: Vec<_> = payees.iter_mut().collect();
            let decision = split(&mut accounts[from.index()], &mut lent, *amount);
            to.iter().zip(payees).for_each(|(id, payee)| accounts[id.index()] = payee);
            decision
        }
        Operation::Audit(ids) => audit(ids.iter().map(|id| &accounts[id.index()])),
    }
}
