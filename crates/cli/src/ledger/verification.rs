//! The comparison of a parallel replay with a sequential one.

use std::time::Duration;

use super::account::Account;
use super::register::AccountId;
use super::replay::Replay;
use super::trail::{Comparison, Difference};

/// What the comparison found.
pub struct Verification {
    /// How long the sequential replay took.
    pub sequential: Duration,
    /// Lines that were decided differently.
    pub differing_lines: u64,
    /// The first of them.
    pub first_line: Option<Difference>,
    /// Accounts that ended differently.
    pub differing_accounts: u64,
    /// The first of them.
    pub first_account: Option<AccountDifference>,
}

/// An account that two replays left in different states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountDifference {
    /// Which one.
    pub id: AccountId,
    /// How the sequential replay left it.
    pub sequential: Account,
    /// How the parallel replay left it.
    pub parallel: Account,
}

impl Verification {
    /// Compares the ends of two replays and adds what their decisions gave on the way. `None` if
    /// they did not read the same input.
    pub fn new(sequential: &Replay, parallel: &Replay, decisions: &Comparison) -> Option<Self> {
        let same_input = sequential.bytes == parallel.bytes
            && sequential.books.decisions.lines() == parallel.books.decisions.lines()
            && sequential.accounts.len() == parallel.accounts.len();
        same_input.then(|| Self {
            sequential: sequential.elapsed,
            differing_lines: decisions.differences(),
            first_line: decisions.first(),
            differing_accounts: differences(sequential, parallel).count() as u64,
            first_account: differences(sequential, parallel).next(),
        })
    }

    /// Whether both replays agree on everything.
    pub fn holds(&self) -> bool {
        self.differing_lines == 0 && self.differing_accounts == 0
    }
}

fn differences(sequential: &Replay, parallel: &Replay) -> impl Iterator<Item = AccountDifference> {
    let pairs = sequential.accounts.iter().zip(&parallel.accounts);
    (0..).zip(pairs).filter(|(_, (a, b))| a != b).map(|(number, (sequential, parallel))| {
        AccountDifference {
            id: AccountId::new(number),
            sequential: *sequential,
            parallel: *parallel,
        }
    })
}
