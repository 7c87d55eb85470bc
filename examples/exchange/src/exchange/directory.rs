//! The list of all accounts.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use coact::prelude::*;

use crate::rules::account::Account;
use crate::rules::error::Error;
use crate::rules::name::Name;

/// All accounts, by name. It is a cown itself: accounts are opened while others trade.
#[derive(Default)]
pub struct Directory(BTreeMap<Name, Cown<Account>>);

impl Directory {
    pub fn add(&mut self, account: Account) -> Result<(), Error> {
        match self.0.entry(account.name().clone()) {
            Entry::Occupied(entry) => Err(Error::AccountExists(entry.key().clone())),
            Entry::Vacant(entry) => {
                entry.insert(Cown::new(account));
                Ok(())
            }
        }
    }

    pub fn find(&self, name: &Name) -> Result<Cown<Account>, Error> {
        self.0.get(name).cloned().ok_or_else(|| Error::UnknownAccount(name.clone()))
    }

    pub fn accounts(&self) -> Vec<Cown<Account>> {
        self.0.values().cloned().collect()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}
