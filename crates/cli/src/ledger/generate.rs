//! Seeded ledgers: plausible days at a bank where a few accounts see most of the traffic.
//!
//! The generator carries its own operations out as it writes them. So it knows balances, can empty
//! an account before closing it, and gets its rejected operations the way a bank does: people
//! overdraw, pay into frozen accounts, and name accounts that are closed or do not exist yet.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::account::{Account, Status};
use super::cents::Cents;
use super::operation::Update;
use super::random::{Random, Zipf};
use super::reader::HEADER;
use super::register::AccountId;
use super::sequential::Entries;

/// What a ledger is made from. Equal plans give equal bytes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Lines after the header.
    pub lines: u64,
    /// Distinct accounts, at least one.
    pub accounts: u32,
    /// Where chance starts.
    pub seed: u64,
    /// The exponent of Zipf's law for the choice of accounts.
    pub skew: f64,
}

struct Generator<W> {
    out: W,
    plan: Plan,
    random: Random,
    zipf: Zipf,
    accounts: Vec<Account>,
    /// Accounts opened so far; those behind them are unknown.
    opened: u32,
    /// How many accounts may still be closed before too few are left.
    closable: u32,
    /// Frozen accounts, each with the line on which it is released.
    frozen: VecDeque<(u64, AccountId)>,
    line: u64,
}

/// Writes the ledger of a plan.
pub fn generate(plan: Plan, out: impl Write) -> io::Result<()> {
    let mut generator = Generator::new(plan, out);
    writeln!(generator.out, "{HEADER}")?;
    while generator.line < plan.lines {
        generator.next_line()?;
    }
    generator.out.flush()
}

impl Plan {
    /// Accounts that are opened before any traffic.
    fn opened_at_start(&self) -> u32 {
        self.accounts - self.accounts / 10
    }

    /// The line on which the account after `opened` others is opened: the late ones are spread
    /// evenly over the file, so that until its end some accounts are unknown.
    fn opening_line(&self, opened: u32) -> u64 {
        let at_start = self.opened_at_start();
        let late = u64::from(self.accounts - at_start);
        let traffic = self.lines.saturating_sub(at_start.into());
        u64::from(at_start) + u64::from(opened - at_start + 1) * (traffic / (late + 1))
    }
}

impl<W: Write> Generator<W> {
    fn new(plan: Plan, out: W) -> Self {
        let account = |number| Account::unopened(AccountId::new(number));
        Self {
            out,
            plan,
            random: Random::new(plan.seed),
            zipf: Zipf::new(plan.accounts, plan.skew),
            accounts: (0..plan.accounts).map(account).collect(),
            opened: 0,
            closable: plan.accounts / 20,
            frozen: VecDeque::new(),
            line: 0,
        }
    }

    fn next_line(&mut self) -> io::Result<()> {
        if self.opening_is_due() {
            return self.open_next();
        }
        match self.frozen.front() {
            Some(&(due, id)) if due <= self.line => {
                self.frozen.pop_front();
                self.update(Update::Unfreeze, &[id])
            }
            _ => self.traffic(),
        }
    }

    fn traffic(&mut self) -> io::Result<()> {
        match self.random.below(1000) {
            0..470 => self.transfer(),
            470..650 => self.deposit(),
            650..820 => self.withdraw(),
            820..900 => self.split(),
            900..980 => self.audit(),
            980..984 => self.freeze(),
            984..986 => self.unfreeze_any(),
            986..988 => self.open_again(),
            988..991 => self.close(),
            _ => self.transfer(),
        }
    }

    fn opening_is_due(&self) -> bool {
        self.opened < self.plan.opened_at_start()
            || self.opened < self.plan.accounts && self.plan.opening_line(self.opened) <= self.line
    }

    fn open_next(&mut self) -> io::Result<()> {
        let id = AccountId::new(self.opened);
        self.opened += 1;
        let opening = self.cents(1_000, 500_000);
        self.update(Update::Open(opening), &[id])
    }

    fn open_again(&mut self) -> io::Result<()> {
        let id = self.any();
        self.update(Update::Open(Cents::ZERO), &[id])
    }

    fn deposit(&mut self) -> io::Result<()> {
        let (id, amount) = (self.busy(), self.cents(100, 60_000));
        self.update(Update::Deposit(amount), &[id])
    }

    fn withdraw(&mut self) -> io::Result<()> {
        let id = self.busy();
        let amount = self.affordable(id, 40_000);
        self.update(Update::Withdraw(amount), &[id])
    }

    fn transfer(&mut self) -> io::Result<()> {
        if self.plan.accounts < 2 {
            return self.deposit();
        }
        let ids = self.busy_distinct(2);
        let amount = self.affordable(ids[0], 50_000);
        self.update(Update::Transfer(amount), &ids)
    }

    fn split(&mut self) -> io::Result<()> {
        if self.plan.accounts < 3 {
            return self.transfer();
        }
        let count = self.random.between(3, 6);
        let ids = self.busy_distinct(count);
        let amount = self.affordable(ids[0], 80_000);
        self.update(Update::Split(amount), &ids)
    }

    /// An audit looks at a branch of the bank: accounts with neighbouring numbers. Most auditors
    /// know which of them exist.
    fn audit(&mut self) -> io::Result<()> {
        let first = self.any();
        let count = self.random.between(4, 12) as u32;
        let last = first.get().saturating_add(count).min(self.plan.accounts);
        let mut ids: Vec<_> = (first.get()..last).map(AccountId::new).collect();
        if !self.random.once_in(20) {
            ids.retain(|id| self.exists(*id));
        }
        if ids.is_empty() {
            ids.push(first);
        }
        self.write("audit", &ids, None)
    }

    fn freeze(&mut self) -> io::Result<()> {
        let id = self.busy();
        if self.account(id).status() == Status::Open {
            let due = self.line + self.random.between(20, 400);
            self.frozen.push_back((due, id));
        }
        self.update(Update::Freeze, &[id])
    }

    fn unfreeze_any(&mut self) -> io::Result<()> {
        let id = self.any();
        self.update(Update::Unfreeze, &[id])
    }

    /// Mostly empties a quiet account and closes it on the next line; otherwise tries to close one
    /// that still has money in it.
    fn close(&mut self) -> io::Result<()> {
        let id = self.any();
        let (status, balance) = (self.account(id).status(), self.account(id).balance());
        let is_quiet = id.get() >= self.plan.accounts / 4;
        if is_quiet && self.closable > 0 && status == Status::Open && balance != Cents::ZERO {
            self.closable -= 1;
            self.update(Update::Withdraw(balance), &[id])?;
            if self.line == self.plan.lines {
                return Ok(());
            }
        }
        self.update(Update::Close, &[id])
    }

    /// An account by Zipf's law. Ranks are account numbers, so the first accounts are the busy ones.
    fn busy(&mut self) -> AccountId {
        AccountId::new(self.zipf.draw(&mut self.random))
    }

    /// An account by no law at all.
    fn any(&mut self) -> AccountId {
        AccountId::new(self.random.below(self.plan.accounts.into()) as u32)
    }

    fn busy_distinct(&mut self, count: u64) -> Vec<AccountId> {
        let count = count.min(self.plan.accounts.into()) as usize;
        let mut ids = Vec::with_capacity(count);
        while ids.len() < count {
            let mut id = self.busy();
            // Under a strong skew the same few come again and again: move on to a neighbour.
            while ids.contains(&id) {
                id = AccountId::new((id.get() + 1) % self.plan.accounts);
            }
            ids.push(id);
        }
        ids
    }

    /// An amount that the payer has, thirty-nine times in forty; otherwise one that it has not.
    fn affordable(&mut self, payer: AccountId, most: u64) -> Cents {
        let balance = self.account(payer).balance().get();
        if balance < 100 || self.random.once_in(40) {
            return self.cents(balance + 1, balance + most);
        }
        self.cents(100, most.min(balance))
    }

    fn cents(&mut self, low: u64, high: u64) -> Cents {
        Cents::new(self.random.between(low, high)).unwrap_or(Cents::MAX)
    }

    fn account(&self, id: AccountId) -> &Account {
        &self.accounts[id.index()]
    }

    fn exists(&self, id: AccountId) -> bool {
        matches!(self.account(id).status(), Status::Open | Status::Frozen)
    }

    fn update(&mut self, update: Update, ids: &[AccountId]) -> io::Result<()> {
        let table = &mut self.accounts;
        // A rejection changes nothing and is part of the plan.
        let _ = update.apply(&mut Entries { table, ids });
        self.write(update.name(), ids, update.amount())
    }

    fn write(&mut self, name: &str, ids: &[AccountId], amount: Option<Cents>) -> io::Result<()> {
        self.line += 1;
        write!(self.out, "{name}")?;
        let mut separator = ',';
        for id in ids {
            write!(self.out, "{separator}acct-{:05}", id.get())?;
            separator = ';';
        }
        match amount {
            Some(amount) => writeln!(self.out, ",{}", amount.get()),
            None => writeln!(self.out, ","),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::operation::Operation;
    use super::*;

    fn generated(plan: Plan) -> String {
        let mut out = Vec::new();
        generate(plan, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const PLAN: Plan = Plan { lines: 5_000, accounts: 100, seed: 42, skew: 1.0 };

    #[test]
    fn equal_plans_give_equal_files_and_other_seeds_others() {
        assert_eq!(generated(PLAN), generated(PLAN));
        assert_ne!(generated(PLAN), generated(Plan { seed: 43, ..PLAN }));
    }

    #[test]
    fn every_line_is_well_formed_for_any_plan() {
        for accounts in [1, 2, 3, 10, 1000] {
            for skew in [0.0, 1.0, 5.0] {
                for lines in [0, 1, 7, 3_000] {
                    let text = generated(Plan { lines, accounts, skew, ..PLAN });
                    assert_eq!(text.lines().count() as u64, lines + 1);
                    assert!(text.ends_with('\n'));
                    for line in text.lines().skip(1) {
                        Operation::parse(line).unwrap_or_else(|fault| panic!("{line}: {fault}"));
                    }
                }
            }
        }
    }

    #[test]
    fn every_kind_of_operation_occurs() {
        let text = generated(PLAN);
        for name in [
            "open", "deposit", "withdraw", "transfer", "split", "freeze", "unfreeze", "audit",
            "close",
        ] {
            let prefix = format!("{name},");
            assert!(text.lines().any(|line| line.starts_with(&prefix)), "{name}");
        }
    }
}
