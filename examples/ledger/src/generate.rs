//! Ledgers from a seed: plausible days at a bank where a few accounts see most of the traffic.
//!
//! The generator carries its own operations out as it makes them. So it knows the balances, can
//! empty an account before it closes it, and gets its rejections the way a bank does: people
//! overdraw, pay into frozen accounts, and name accounts that are closed or do not exist yet.

use clap::Args;

use crate::account::{Account, AccountId, Cents, Change, Status};
use crate::ledger::Ledger;
use crate::operation::Operation;
use crate::random::Random;
use crate::sequential::{execute, unopened};

/// What a ledger is made from. Equal plans make equal ledgers, on every machine.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Generated ledger")]
pub struct Plan {
    /// Number of operations
    #[arg(long, value_name = "N", default_value_t = 100_000, conflicts_with = "file")]
    pub operations: usize,

    /// Number of accounts
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2_000,
        value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with = "file"
    )]
    pub accounts: u32,

    /// Seed of all random choices: an equal one gives an equal ledger
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "file")]
    pub seed: u64,
}

/// Makes the ledger of a plan.
pub fn generate(plan: Plan) -> Ledger {
    let mut generator = Generator::new(plan);
    generator.open_most();
    while generator.operations.len() < plan.operations {
        generator.traffic();
    }
    generator.operations.truncate(plan.operations);
    let mut ledger = Ledger { source: format!("seed {}", plan.seed), ..Ledger::default() };
    for number in 0..plan.accounts {
        ledger.names.number(&format!("acct-{number:05}"));
    }
    // Line 1 of the file would be the header.
    ledger.operations = (2..).zip(generator.operations).collect();
    ledger
}

struct Generator {
    random: Random,
    operations: Vec<Operation>,
    accounts: Vec<Account>,
    /// Accounts opened so far; those behind them are unknown.
    opened: usize,
    /// Accounts that may still be closed before too few are left.
    closable: usize,
    frozen: Vec<AccountId>,
}

impl Generator {
    fn new(plan: Plan) -> Self {
        Self {
            random: Random::new(plan.seed),
            operations: Vec::with_capacity(plan.operations),
            accounts: unopened(plan.accounts as usize),
            opened: 0,
            closable: plan.accounts as usize / 20,
            frozen: Vec::new(),
        }
    }

    /// Opens all accounts but a tenth, which is opened under way.
    fn open_most(&mut self) {
        let at_start = self.accounts.len() - self.accounts.len() / 10;
        while self.opened < at_start {
            self.open();
        }
    }

    fn traffic(&mut self) {
        match self.random.below(1000) {
            0..180 => self.deposit(),
            180..350 => self.withdraw(),
            350..430 => self.split(),
            430..510 => self.audit(),
            510..514 => self.freeze(),
            514..520 => self.unfreeze(),
            520..524 => self.open(),
            524..527 => self.close(),
            _ => self.transfer(),
        }
    }

    /// Opens the next account. When all are, tries to open one again.
    fn open(&mut self) {
        if self.opened == self.accounts.len() {
            let id = self.any();
            return self.add(Operation::Change(Change::Open(Cents(0)), id));
        }
        let id = AccountId(self.opened as u32);
        self.opened += 1;
        let opening = self.random.between(1_000, 500_000);
        self.add(Operation::Change(Change::Open(Cents(opening)), id));
    }

    fn deposit(&mut self) {
        let (id, amount) = (self.busy(), self.random.between(100, 60_000));
        self.add(Operation::Change(Change::Deposit(Cents(amount)), id));
    }

    fn withdraw(&mut self) {
        let id = self.busy();
        let amount = self.affordable(id, 40_000);
        self.add(Operation::Change(Change::Withdraw(amount), id));
    }

    fn transfer(&mut self) {
        match self.busy_distinct(2)[..] {
            [from, to] => {
                let amount = self.affordable(from, 50_000);
                self.add(Operation::Transfer { amount, from, to });
            }
            // There is only one account.
            _ => self.deposit(),
        }
    }

    fn split(&mut self) {
        let count = self.random.between(3, 6) as usize;
        match self.busy_distinct(count)[..] {
            [from, ref to @ ..] if !to.is_empty() => {
                let amount = self.affordable(from, 80_000);
                self.add(Operation::Split { amount, from, to: to.into() });
            }
            _ => self.deposit(),
        }
    }

    /// An audit looks at a branch of the bank: accounts with neighbouring numbers. Most auditors
    /// know which of them exist.
    fn audit(&mut self) {
        let first = self.any();
        let last = first.0.saturating_add(self.random.between(4, 12) as u32);
        let mut ids: Vec<_> =
            (first.0..last.min(self.accounts.len() as u32)).map(AccountId).collect();
        if self.random.below(20) > 0 {
            ids.retain(|id| matches!(self.account(*id).status(), Status::Open | Status::Frozen));
        }
        if ids.is_empty() {
            ids.push(first);
        }
        self.add(Operation::Audit(ids.into()));
    }

    fn freeze(&mut self) {
        let id = self.busy();
        if self.account(id).status() == Status::Open {
            self.frozen.push(id);
        }
        self.add(Operation::Change(Change::Freeze, id));
    }

    /// Mostly finds an account that is frozen: there are more of these operations than freezes.
    fn unfreeze(&mut self) {
        let id = self.frozen.pop().unwrap_or_else(|| self.any());
        self.add(Operation::Change(Change::Unfreeze, id));
    }

    /// Mostly empties a quiet account and closes it; otherwise tries to close one with money in it.
    fn close(&mut self) {
        let id = self.any();
        let is_quiet = id.index() >= self.accounts.len() / 4;
        let balance = self.account(id).balance();
        if is_quiet && self.closable > 0 && balance > Cents(0) {
            self.closable -= 1;
            self.add(Operation::Change(Change::Withdraw(balance), id));
        }
        self.add(Operation::Change(Change::Close, id));
    }

    /// An account of those with the most traffic: the low numbers.
    fn busy(&mut self) -> AccountId {
        AccountId(self.random.low_below(self.accounts.len() as u64) as u32)
    }

    fn any(&mut self) -> AccountId {
        AccountId(self.random.below(self.accounts.len() as u64) as u32)
    }

    /// Busy accounts, `count` of them if there are as many.
    fn busy_distinct(&mut self, count: usize) -> Vec<AccountId> {
        let mut ids = Vec::with_capacity(count);
        while ids.len() < count.min(self.accounts.len()) {
            let mut id = self.busy();
            while ids.contains(&id) {
                id = AccountId((id.0 + 1) % self.accounts.len() as u32);
            }
            ids.push(id);
        }
        ids
    }

    /// An amount that the payer has, thirty-nine times in forty; otherwise one that it has not.
    fn affordable(&mut self, payer: AccountId, most: u64) -> Cents {
        let balance = self.account(payer).balance().0;
        if balance < 100 || self.random.below(40) == 0 {
            return Cents(self.random.between(balance + 1, balance + most));
        }
        Cents(self.random.between(100, most.min(balance)))
    }

    fn account(&self, id: AccountId) -> &Account {
        &self.accounts[id.index()]
    }

    fn add(&mut self, operation: Operation) {
        // A rejection changes nothing and is part of the plan.
        let _ = execute(&operation, &mut self.accounts);
        self.operations.push(operation);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PLAN: Plan = Plan { operations: 100_000, accounts: 2_000, seed: 1 };

    fn csv(plan: Plan) -> Vec<u8> {
        let mut out = Vec::new();
        generate(plan).write(&mut out).unwrap();
        out
    }

    /// The 64-bit FNV-1a hash.
    fn checksum(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
        })
    }

    #[test]
    fn a_seed_gives_the_same_operations_on_every_machine() {
        assert_eq!(checksum(b"deadbeef"), 0xCD4F_3B6F_56D9_3515, "this is FNV-1a");
        assert_eq!(checksum(&csv(PLAN)), 0x880E_C3E0_5B9F_D26A);
        assert_eq!(checksum(&csv(Plan { seed: 2, ..PLAN })), 0xF856_87B7_6690_C8AD);
    }

    #[test]
    fn a_written_ledger_is_read_as_the_same_operations_for_any_plan() {
        for accounts in [1, 2, 3, 10, 1000] {
            for operations in [0, 1, 7, 3_000] {
                let plan = Plan { operations, accounts, seed: 42 };
                let read = Ledger::read("test".into(), csv(plan).as_slice()).unwrap();
                assert_eq!(read.operations.len(), operations);
                assert_eq!(read.malformed.len(), 0);
                let generated = generate(plan);
                let pairs = read.operations.iter().zip(&generated.operations);
                for ((line, read_one), (number, generated_one)) in pairs {
                    let names = |ledger: &Ledger, operation: &Operation| -> Vec<String> {
                        operation.accounts().map(|id| ledger.names.name(id).into()).collect()
                    };
                    assert_eq!(line, number);
                    assert_eq!(read_one.word(), generated_one.word());
                    assert_eq!(read_one.amount(), generated_one.amount());
                    assert_eq!(names(&read, read_one), names(&generated, generated_one));
                }
            }
        }
    }

    #[test]
    fn every_kind_of_operation_occurs_and_is_rejected_for_every_reason_but_the_limit() {
        let ledger = generate(PLAN);
        let words: BTreeSet<_> = ledger.operations.iter().map(|(_, it)| it.word()).collect();
        assert_eq!(words.len(), 9, "{words:?}");
        let mut accounts = unopened(ledger.names.len());
        let decisions = ledger.operations.iter().map(|(_, it)| execute(it, &mut accounts));
        let reasons: BTreeSet<_> = decisions.filter_map(|it| Some(it.err()?.reason)).collect();
        assert_eq!(reasons.len(), 7, "{reasons:?}");
    }
}
