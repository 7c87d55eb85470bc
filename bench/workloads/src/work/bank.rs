//! Transfers between two accounts of a bank.
//!
//! An account may be overdrawn, so the final balances do not depend on the order of the transfers,
//! and every implementation must end with those of a plain sequential loop.

use std::num::Wrapping;
use std::ops::Range;

use crate::program::Given;
use crate::random::mix;

/// How many accounts, transfers, and plain threads that make them (where plain threads do).
#[derive(Clone, Copy)]
pub struct Size {
    /// Accounts.
    pub accounts: u64,
    /// Transfers in all.
    pub transfers: u64,
    /// Threads, each with an equal share of the transfers.
    pub threads: u64,
}

impl Size {
    /// As a program is told.
    pub fn of(given: &Given) -> anyhow::Result<Size> {
        let (accounts, transfers) = (given.number("accounts")?, given.number("transfers")?);
        Ok(Size { accounts, transfers, threads: given.number("threads")? })
    }

    /// The numbers of the transfers that this thread makes.
    #[inline]
    pub fn share_of(self, thread: u64) -> Range<u64> {
        share(self.transfers, self.threads, thread)
    }
}

/// The digest of the accounts after these transfers, made by a plain loop.
pub fn expected(accounts: u64, transfers: impl Iterator<Item = Transfer>) -> u64 {
    let mut accounts = vec![Account::default(); accounts as usize];
    for Transfer { from, to, amount } in transfers {
        accounts[from].pay(amount);
        accounts[to].receive(amount);
    }
    digest(accounts)
}

/// The numbers of the parts of the work that fall to this one of equal workers.
pub fn share(work: u64, workers: u64, worker: u64) -> Range<u64> {
    let bound = |worker| work * worker / workers;
    bound(worker)..bound(worker + 1)
}

/// One order to move money.
#[derive(Clone, Copy)]
pub struct Transfer {
    /// Who pays.
    pub from: usize,
    /// Who receives; another one.
    pub to: usize,
    /// How much.
    pub amount: u64,
}

impl Transfer {
    /// The same number is the same transfer among as many accounts, in every implementation.
    #[inline]
    pub fn among(accounts: u64, number: u64) -> Transfer {
        let random = mix(number);
        // Multiplications in place of divisions, which would show in the figures.
        let below = |bits: u64, bound: u64| ((bits & 0xFF_FFFF) * bound) >> 24;
        let from = below(random, accounts);
        let other = below(random >> 24, accounts - 1);
        let to = if other >= from { other + 1 } else { other };
        Transfer { from: from as usize, to: to as usize, amount: random >> 58 }
    }

    /// The transfers of one thread, drawn as they are needed.
    #[inline]
    pub fn some(size: Size, thread: u64) -> impl Iterator<Item = Transfer> {
        size.share_of(thread).map(move |number| Transfer::among(size.accounts, number))
    }
}

/// A balance, and how often it was changed.
#[derive(Clone, Copy, Default)]
pub struct Account {
    balance: i64,
    uses: u64,
}

impl Account {
    /// What is there.
    #[inline]
    pub fn balance(&self) -> i64 {
        self.balance
    }

    /// Takes the amount off.
    #[inline]
    pub fn pay(&mut self, amount: u64) {
        self.balance -= amount as i64;
        self.uses += 1;
    }

    /// Adds the amount.
    #[inline]
    pub fn receive(&mut self, amount: u64) {
        self.balance += amount as i64;
        self.uses += 1;
    }
}

/// One number that a lost, doubled or misdirected transfer changes.
pub fn digest(accounts: impl IntoIterator<Item = Account>) -> u64 {
    let mix = |seen: Wrapping<u64>, account: Account| {
        (seen + Wrapping(account.balance.cast_unsigned())) * Wrapping(0x9E37_79B9_7F4A_7C15)
            + Wrapping(account.uses)
    };
    accounts.into_iter().fold(Wrapping(0), mix).0
}

#[cfg(test)]
mod tests {
    use super::{Size, Transfer};

    const SIZE: Size = Size { accounts: 3, transfers: 1_000, threads: 7 };

    #[test]
    fn a_transfer_is_between_two_different_accounts() {
        for number in 0..SIZE.transfers {
            let Transfer { from, to, .. } = Transfer::among(SIZE.accounts, number);
            assert!(from != to && from < 3 && to < 3);
        }
    }

    #[test]
    fn the_shares_of_the_threads_are_the_whole() {
        let all: Vec<u64> = (0..SIZE.threads).flat_map(|thread| SIZE.share_of(thread)).collect();
        assert_eq!(all, (0..SIZE.transfers).collect::<Vec<u64>>());
    }
}
