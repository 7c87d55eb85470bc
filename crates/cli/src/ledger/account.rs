//! The state of one account and the rules by which an operation is accepted or rejected.
//!
//! The rules are written once and know neither of the two engines: the sequential replay lends them
//! entries of a table, the parallel one lends them the cowns that a behaviour holds. An operation
//! that is rejected changes nothing, so every rule checks all its accounts before it changes one.

use std::fmt;

use super::cents::Cents;
use super::operation::Update;
use super::register::AccountId;

/// One account. It exists from the first line that names it, as [`Status::Unopened`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    id: AccountId,
    status: Status,
    balance: Cents,
}

/// Where an account stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Named by some line, opened by none so far.
    Unopened,
    /// In use.
    Open,
    /// Opened, but nothing may move.
    Frozen,
    /// Ended for good.
    Closed,
}

/// Why an operation was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reason {
    /// No line so far has opened the account.
    NotOpened,
    /// The account is open already.
    AlreadyOpen,
    /// The account was closed.
    Closed,
    /// The account is frozen.
    Frozen,
    /// The account is not frozen.
    NotFrozen,
    /// The balance is less than the amount.
    InsufficientFunds,
    /// Only an empty account can be closed.
    NotEmpty,
    /// The balance, or the total of an audit, would pass [`Cents::MAX`].
    LimitPassed,
}

/// A rejected operation: why, and which of its accounts was the first obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// The account that stood in the way.
    pub account: AccountId,
}

/// The accounts that an operation holds exclusively, by their position on the line.
pub trait Holdings {
    /// How many there are.
    fn count(&self) -> usize;
    /// The account at a position.
    fn at(&self, position: usize) -> &Account;
    /// The account at a position, to change it.
    fn at_mut(&mut self, position: usize) -> &mut Account;
}

impl<const N: usize> Holdings for [&mut Account; N] {
    fn count(&self) -> usize {
        N
    }

    fn at(&self, position: usize) -> &Account {
        self[position]
    }

    fn at_mut(&mut self, position: usize) -> &mut Account {
        self[position]
    }
}

impl Update {
    /// Decides the operation and, if it is accepted, carries it out.
    pub fn apply(self, accounts: &mut impl Holdings) -> Result<(), Rejection> {
        match self {
            Self::Open(opening) => accounts.at_mut(0).open(opening),
            Self::Deposit(amount) => accounts.at_mut(0).deposit(amount),
            Self::Withdraw(amount) => accounts.at_mut(0).withdraw(amount),
            Self::Transfer(amount) | Self::Split(amount) => pay(accounts, amount),
            Self::Freeze => accounts.at_mut(0).freeze(),
            Self::Unfreeze => accounts.at_mut(0).unfreeze(),
            Self::Close => accounts.at_mut(0).close(),
        }
    }
}

/// The first account pays, all others receive a share.
fn pay(accounts: &mut impl Holdings, amount: Cents) -> Result<(), Rejection> {
    let payees = accounts.count() - 1;
    let rest = accounts.at(0).after_paying(amount)?;
    for payee in 0..payees {
        accounts.at(payee + 1).after_receiving(amount.share(payee, payees))?;
    }
    accounts.at_mut(0).balance = rest;
    for payee in 0..payees {
        accounts.at_mut(payee + 1).deposit(amount.share(payee, payees))?;
    }
    Ok(())
}

/// The sum of the balances. Frozen accounts count, accounts that do not exist reject the audit.
pub fn audit<'a>(accounts: impl IntoIterator<Item = &'a Account>) -> Result<Cents, Rejection> {
    let mut total = Cents::ZERO;
    for account in accounts {
        account.require_existing()?;
        total = total
            .checked_add(account.balance)
            .ok_or_else(|| account.rejects(Reason::LimitPassed))?;
    }
    Ok(total)
}

impl Account {
    /// An account that a line names for the first time.
    pub fn unopened(id: AccountId) -> Self {
        Self { id, status: Status::Unopened, balance: Cents::ZERO }
    }

    /// Where it stands in its life.
    pub fn status(&self) -> Status {
        self.status
    }

    /// What it holds.
    pub fn balance(&self) -> Cents {
        self.balance
    }

    fn rejects(&self, reason: Reason) -> Rejection {
        Rejection { reason, account: self.id }
    }

    fn require_existing(&self) -> Result<(), Rejection> {
        match self.status {
            Status::Unopened => Err(self.rejects(Reason::NotOpened)),
            Status::Closed => Err(self.rejects(Reason::Closed)),
            Status::Open | Status::Frozen => Ok(()),
        }
    }

    fn require_open(&self) -> Result<(), Rejection> {
        self.require_existing()?;
        match self.status {
            Status::Frozen => Err(self.rejects(Reason::Frozen)),
            _ => Ok(()),
        }
    }

    fn after_paying(&self, amount: Cents) -> Result<Cents, Rejection> {
        self.require_open()?;
        self.balance.checked_sub(amount).ok_or_else(|| self.rejects(Reason::InsufficientFunds))
    }

    fn after_receiving(&self, amount: Cents) -> Result<Cents, Rejection> {
        self.require_open()?;
        self.balance.checked_add(amount).ok_or_else(|| self.rejects(Reason::LimitPassed))
    }

    fn open(&mut self, opening: Cents) -> Result<(), Rejection> {
        match self.status {
            Status::Unopened => {
                self.status = Status::Open;
                self.balance = opening;
                Ok(())
            }
            Status::Open | Status::Frozen => Err(self.rejects(Reason::AlreadyOpen)),
            Status::Closed => Err(self.rejects(Reason::Closed)),
        }
    }

    fn deposit(&mut self, amount: Cents) -> Result<(), Rejection> {
        self.balance = self.after_receiving(amount)?;
        Ok(())
    }

    fn withdraw(&mut self, amount: Cents) -> Result<(), Rejection> {
        self.balance = self.after_paying(amount)?;
        Ok(())
    }

    fn freeze(&mut self) -> Result<(), Rejection> {
        self.require_open()?;
        self.status = Status::Frozen;
        Ok(())
    }

    fn unfreeze(&mut self) -> Result<(), Rejection> {
        self.require_existing()?;
        if self.status == Status::Open {
            return Err(self.rejects(Reason::NotFrozen));
        }
        self.status = Status::Open;
        Ok(())
    }

    fn close(&mut self) -> Result<(), Rejection> {
        self.require_open()?;
        if self.balance != Cents::ZERO {
            return Err(self.rejects(Reason::NotEmpty));
        }
        self.status = Status::Closed;
        Ok(())
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, balance {}", self.status, self.balance)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unopened => "never opened",
            Self::Open => "open",
            Self::Frozen => "frozen",
            Self::Closed => "closed",
        })
    }
}

impl Reason {
    /// Every reason, in the order of its discriminant.
    pub const ALL: [Self; 8] = [
        Self::NotOpened,
        Self::AlreadyOpen,
        Self::Closed,
        Self::Frozen,
        Self::NotFrozen,
        Self::InsufficientFunds,
        Self::NotEmpty,
        Self::LimitPassed,
    ];

    /// The wording that reports use.
    pub fn text(self) -> &'static str {
        match self {
            Self::NotOpened => "account was never opened",
            Self::AlreadyOpen => "account already open",
            Self::Closed => "account closed",
            Self::Frozen => "account frozen",
            Self::NotFrozen => "account not frozen",
            Self::InsufficientFunds => "insufficient funds",
            Self::NotEmpty => "account not empty",
            Self::LimitPassed => "largest amount passed",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(number: u32) -> Account {
        Account::unopened(AccountId::new(number))
    }

    fn open(number: u32, balance: u64) -> Account {
        let mut account = account(number);
        account.open(cents(balance)).unwrap();
        account
    }

    fn cents(cents: u64) -> Cents {
        Cents::new(cents).unwrap()
    }

    fn reason(result: Result<(), Rejection>) -> Reason {
        result.unwrap_err().reason
    }

    #[test]
    fn the_list_is_in_the_order_of_the_discriminants() {
        for (index, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
        }
    }

    #[test]
    fn an_account_lives_from_opening_to_closing() {
        let mut a = account(0);
        assert_eq!(reason(a.deposit(cents(1))), Reason::NotOpened);
        assert_eq!(a.open(cents(10)), Ok(()));
        assert_eq!(reason(a.open(cents(10))), Reason::AlreadyOpen);
        assert_eq!(reason(a.unfreeze()), Reason::NotFrozen);
        assert_eq!(a.freeze(), Ok(()));
        assert_eq!(reason(a.withdraw(cents(1))), Reason::Frozen);
        assert_eq!(reason(a.freeze()), Reason::Frozen);
        assert_eq!(reason(a.close()), Reason::Frozen);
        assert_eq!(a.unfreeze(), Ok(()));
        assert_eq!(reason(a.close()), Reason::NotEmpty);
        assert_eq!(reason(a.withdraw(cents(11))), Reason::InsufficientFunds);
        assert_eq!(a.withdraw(cents(10)), Ok(()));
        assert_eq!(a.close(), Ok(()));
        assert_eq!(reason(a.open(cents(1))), Reason::Closed);
        assert_eq!(reason(a.unfreeze()), Reason::Closed);
    }

    #[test]
    fn a_transfer_moves_money_or_nothing() {
        let (mut a, mut b) = (open(0, 10), open(1, 0));
        Update::Transfer(cents(7)).apply(&mut [&mut a, &mut b]).unwrap();
        assert_eq!((a.balance, b.balance), (cents(3), cents(7)));

        b.freeze().unwrap();
        let (before_a, before_b) = (a, b);
        let rejection = Update::Transfer(cents(1)).apply(&mut [&mut a, &mut b]).unwrap_err();
        assert_eq!(rejection.reason, Reason::Frozen);
        assert_eq!(rejection.account, AccountId::new(1));
        assert_eq!((a, b), (before_a, before_b));
    }

    #[test]
    fn a_split_that_fails_at_its_last_payee_changes_nobody() {
        let (mut a, mut b, mut c) = (open(0, 10), open(1, 0), open(2, Cents::MAX.get()));
        let before = (a, b, c);
        let rejection = Update::Split(cents(5)).apply(&mut [&mut a, &mut b, &mut c]).unwrap_err();
        assert_eq!(rejection.reason, Reason::LimitPassed);
        assert_eq!(rejection.account, AccountId::new(2));
        assert_eq!((a, b, c), before);

        c.withdraw(cents(2)).unwrap();
        Update::Split(cents(5)).apply(&mut [&mut a, &mut b, &mut c]).unwrap();
        assert_eq!((a.balance, b.balance), (cents(5), cents(3)));
        assert_eq!(c.balance, Cents::MAX);
    }

    #[test]
    fn an_audit_adds_up_and_knows_its_limit() {
        let (a, mut b, full) = (open(0, 3), open(1, 4), open(2, Cents::MAX.get()));
        b.freeze().unwrap();
        assert_eq!(audit([&a, &b]), Ok(cents(7)));
        assert_eq!(audit([&a, &full]).unwrap_err().reason, Reason::LimitPassed);
        let missing = audit([&a, &account(9)]).unwrap_err();
        assert_eq!(missing.reason, Reason::NotOpened);
        assert_eq!(missing.account, AccountId::new(9));
    }
}
