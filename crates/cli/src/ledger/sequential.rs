//! The reference: one operation after the other, on a plain table.

use anyhow::Result;

use super::account::{Account, Holdings, audit};
use super::outcome::Outcome;
use super::register::AccountId;
use super::replay::{Books, Engine, Step};
use super::work::Work;

/// Carries every operation out as it is submitted.
pub struct Sequential {
    accounts: Vec<Account>,
    work: Work,
}

/// The entries of a table that one operation names.
pub struct Entries<'table> {
    /// All accounts.
    pub table: &'table mut [Account],
    /// The accounts of the operation.
    pub ids: &'table [AccountId],
}

impl Sequential {
    /// An engine without accounts, whose operations each do `work` on the side.
    pub fn new(work: Work) -> Self {
        let accounts = Vec::new();
        Self { accounts, work }
    }

    fn decide(&mut self, step: Step<'_>) -> Outcome {
        match step {
            Step::Update(update, ids) => {
                self.work.perform();
                let table = &mut self.accounts;
                update.apply(&mut Entries { table, ids }).into()
            }
            Step::Audit(ids) => {
                self.work.perform();
                audit(ids.iter().map(|id| &self.accounts[id.index()])).into()
            }
            Step::Malformed(fault) => Outcome::Malformed(fault),
        }
    }
}

impl Engine for Sequential {
    fn submit(&mut self, step: Step<'_>, books: &mut Books) -> Result<()> {
        for number in self.accounts.len()..books.register.len() {
            let id = AccountId::new(number as u32);
            self.accounts.push(Account::unopened(id));
        }
        let outcome = self.decide(step);
        books.record(outcome)
    }

    fn finish(self, _: &mut Books) -> Result<Vec<Account>> {
        Ok(self.accounts)
    }
}

impl Holdings for Entries<'_> {
    fn count(&self) -> usize {
        self.ids.len()
    }

    fn at(&self, position: usize) -> &Account {
        &self.table[self.ids[position].index()]
    }

    fn at_mut(&mut self, position: usize) -> &mut Account {
        &mut self.table[self.ids[position].index()]
    }
}
