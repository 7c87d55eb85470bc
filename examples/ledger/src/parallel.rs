//! The replay on Coact: every operation is one behaviour over exactly the accounts that it names.
//!
//! Each account is a cown. One thread spawns the behaviours in the order of the ledger, and that is
//! all the synchronisation there is: operations that share an account run in the order of their
//! lines, all others in parallel, and audits only read. Whether an account exists, is frozen or can
//! pay is decided inside the behaviour, when all earlier operations on it are over and no later one
//! has begun.

use std::collections::VecDeque;
use std::fmt;
use std::time::Instant;

use anyhow::{Context, Result};
use coact::prelude::*;

use crate::account::{Account, AccountId, Decision, audit, split, transfer};
use crate::ledger::Ledger;
use crate::operation::Operation;
use crate::progress::Progress;
use crate::replay::Replay;
use crate::sequential::unopened;
use crate::work::Work;

/// Behaviours that may wait or run at once: this bounds the memory that they take.
const IN_FLIGHT: usize = 16 * 1024;

/// Replays a ledger on `workers` threads, with `work` in each operation.
pub fn replay(ledger: &Ledger, workers: usize, work: Work) -> Result<Replay> {
    let runtime = Runtime::builder().workers(workers).name("ledger").build();
    runtime.context("cannot start the workers")?.run(|| {
        let bank = Bank::new(ledger.names.len(), work);
        let mut collected = Collected::new(ledger);
        let start = Instant::now();
        for (line, operation) in &ledger.operations {
            collected.push(*line, bank.spawn(operation))?;
        }
        let decisions = collected.finish()?;
        let elapsed = start.elapsed();
        Ok(Replay { decisions, accounts: bank.balances()?, elapsed })
    })
}

struct Bank {
    accounts: Vec<Cown<Account>>,
    work: Work,
}

impl Bank {
    fn new(accounts: usize, work: Work) -> Self {
        Self { accounts: unopened(accounts).into_iter().map(Cown::new).collect(), work }
    }

    /// Spawns the behaviour that carries an operation out.
    fn spawn(&self, operation: &Operation) -> Promise<Decision> {
        let work = self.work;
        match *operation {
            Operation::Change(change, id) => call(self.account(id), move |account| {
                work.perform();
                account.apply(change)
            }),
            Operation::Transfer { amount, from, to } => {
                call((self.account(from), self.account(to)), move |(from, to)| {
                    work.perform();
                    transfer(from, to, amount)
                })
            }
            Operation::Split { amount, from, ref to } => {
                call((self.account(from), &self.accounts(to)[..]), move |(from, to)| {
                    work.perform();
                    split(from, &mut to.into_iter().collect::<Vec<_>>(), amount)
                })
            }
            Operation::Audit(ref ids) => call(read_all(&self.accounts(ids)), move |accounts| {
                work.perform();
                audit(accounts)
            }),
        }
    }

    fn account(&self, id: AccountId) -> &Cown<Account> {
        &self.accounts[id.index()]
    }

    fn accounts(&self, ids: &[AccountId]) -> Vec<&Cown<Account>> {
        ids.iter().map(|id| self.account(*id)).collect()
    }

    /// The accounts after all operations spawned so far.
    fn balances(&self) -> Result<Vec<Account>> {
        let all = call(read_all(&self.accounts), |accounts| accounts.iter().copied().collect());
        Ok(all.wait()?)
    }
}

/// Takes the decisions in, in the order of the ledger, and lets at most [`IN_FLIGHT`] be pending.
struct Collected {
    pending: VecDeque<(u64, Promise<Decision>)>,
    decisions: Vec<Decision>,
    progress: Progress,
}

impl Collected {
    fn new(ledger: &Ledger) -> Self {
        let count = ledger.operations.len();
        Self {
            pending: VecDeque::with_capacity(IN_FLIGHT.min(count)),
            decisions: Vec::with_capacity(count),
            progress: Progress::new("parallel", count),
        }
    }

    fn push(&mut self, line: u64, decision: Promise<Decision>) -> Result<(), Lost> {
        if self.pending.len() == IN_FLIGHT {
            // Half of them at once: to make room for one at a time would wake this thread each
            // time.
            self.collect(IN_FLIGHT / 2)?;
        }
        self.pending.push_back((line, decision));
        Ok(())
    }

    fn collect(&mut self, count: usize) -> Result<(), Lost> {
        for (line, decision) in self.pending.drain(..count) {
            self.decisions.push(decision.wait().map_err(|why| Lost { line, why })?);
            self.progress.at(self.decisions.len());
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Decision>, Lost> {
        self.collect(self.pending.len())?;
        Ok(self.decisions)
    }
}

/// A behaviour ended without a decision. That is a defect of this program, never of a ledger.
#[derive(Debug)]
pub struct Lost {
    line: u64,
    why: Broken,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the operation on line {} was lost: {}", self.line, self.why)
    }
}

impl std::error::Error for Lost {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Cents;

    fn collected() -> Collected {
        Collected::new(&Ledger::default())
    }

    #[test]
    fn decisions_keep_the_order_of_the_ledger_whatever_order_they_are_made_in() {
        let mut collected = collected();
        let (first, late) = Promise::channel();
        collected.push(2, late).unwrap();
        for cents in 1..IN_FLIGHT as u64 {
            collected.push(2 + cents, Promise::ready(Ok(Cents(cents)))).unwrap();
        }
        assert_eq!(collected.decisions, [], "nothing is awaited before it must be");
        first.resolve(Ok(Cents(0)));
        collected.push(0, Promise::ready(Ok(Cents(IN_FLIGHT as u64)))).unwrap();
        assert_eq!(collected.decisions.len(), IN_FLIGHT / 2, "that made room");
        let decisions = collected.finish().unwrap();
        assert!(decisions.into_iter().eq((0..=IN_FLIGHT as u64).map(|cents| Ok(Cents(cents)))));
    }

    #[test]
    fn an_operation_without_a_decision_is_reported_with_its_line() {
        let mut collected = collected();
        let (resolver, decision) = Promise::channel();
        collected.push(7, decision).unwrap();
        drop(resolver);
        let lost = collected.finish().unwrap_err().to_string();
        assert!(lost.starts_with("the operation on line 7 was lost: "), "{lost}");
    }
}
