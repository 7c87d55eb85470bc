//! One account, and the rules for accepting or rejecting operations on it.
//!
//! The rules know nothing of Coact: they get `&mut Account`, which is what a behaviour has of each
//! cown that it holds. A rejected operation changes nothing, so a rule over several accounts checks
//! all of them before it changes the first.

use std::fmt;

/// An amount of money in cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cents(pub u64);

/// The number of an account: how many others the ledger names before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccountId(pub u32);

/// An account. It exists from the first line that names it, as [`Status::Unopened`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    id: AccountId,
    status: Status,
    balance: Cents,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Unopened,
    Open,
    /// Opened, but nothing may move.
    Frozen,
    /// Ended for good.
    Closed,
}

/// What the bank says to an operation: the balance of its first account, or the total of an audit.
pub type Decision = Result<Cents, Rejection>;

/// Why an operation was rejected, and which of its accounts was the first obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub reason: Reason,
    pub account: AccountId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    NotOpened,
    AlreadyOpen,
    Closed,
    Frozen,
    NotFrozen,
    InsufficientFunds,
    /// Only an empty account can be closed.
    NotEmpty,
    /// The balance, or the total of an audit, would not fit.
    LimitExceeded,
}

/// What an operation on one account does to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Opens it with this balance.
    Open(Cents),
    Deposit(Cents),
    Withdraw(Cents),
    /// Stops all movements.
    Freeze,
    /// Allows them again.
    Unfreeze,
    /// Ends an empty account for good.
    Close,
}

impl Account {
    pub fn unopened(id: AccountId) -> Self {
        Self { id, status: Status::Unopened, balance: Cents(0) }
    }

    pub fn id(&self) -> AccountId {
        self.id
    }

    pub fn status(&self) -> Status {
        self.status
    }

    pub fn balance(&self) -> Cents {
        self.balance
    }

    /// Changes this account alone.
    pub fn apply(&mut self, change: Change) -> Decision {
        match change {
            Change::Open(opening) => self.open(opening)?,
            Change::Deposit(amount) => self.balance = self.after_receiving(amount)?,
            Change::Withdraw(amount) => self.balance = self.after_paying(amount)?,
            Change::Freeze => self.freeze()?,
            Change::Unfreeze => self.unfreeze()?,
            Change::Close => self.close()?,
        }
        Ok(self.balance)
    }

    fn open(&mut self, opening: Cents) -> Result<(), Rejection> {
        match self.status {
            Status::Unopened => {
                *self = Self { status: Status::Open, balance: opening, ..*self };
                Ok(())
            }
            Status::Open | Status::Frozen => Err(self.rejects(Reason::AlreadyOpen)),
            Status::Closed => Err(self.rejects(Reason::Closed)),
        }
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
        if self.balance != Cents(0) {
            return Err(self.rejects(Reason::NotEmpty));
        }
        self.status = Status::Closed;
        Ok(())
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

    fn after_paying(&self, amount: Cents) -> Decision {
        self.require_open()?;
        self.balance.minus(amount).ok_or_else(|| self.rejects(Reason::InsufficientFunds))
    }

    fn after_receiving(&self, amount: Cents) -> Decision {
        self.require_open()?;
        self.balance.plus(amount).ok_or_else(|| self.rejects(Reason::LimitExceeded))
    }

    fn rejects(&self, reason: Reason) -> Rejection {
        Rejection { reason, account: self.id }
    }
}

/// Moves `amount` from one account to another.
pub fn transfer(from: &mut Account, to: &mut Account, amount: Cents) -> Decision {
    split(from, &mut [to], amount)
}

/// Moves `amount` from one account to others, in equal shares.
pub fn split(from: &mut Account, to: &mut [&mut Account], amount: Cents) -> Decision {
    let rest = from.after_paying(amount)?;
    let payees = to.len();
    for (payee, share) in to.iter().zip(amount.shares(payees)) {
        payee.after_receiving(share)?;
    }
    for (payee, share) in to.iter_mut().zip(amount.shares(payees)) {
        payee.balance = payee.after_receiving(share)?;
    }
    from.balance = rest;
    Ok(rest)
}

/// Adds up the balances, those of frozen accounts too.
pub fn audit<'a>(accounts: impl IntoIterator<Item = &'a Account>) -> Decision {
    let mut total = Cents(0);
    for account in accounts {
        account.require_existing()?;
        total =
            total.plus(account.balance).ok_or_else(|| account.rejects(Reason::LimitExceeded))?;
    }
    Ok(total)
}

impl Cents {
    fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// Equal parts for all payees; the first ones get one cent each of what does not divide.
    fn shares(self, payees: usize) -> impl Iterator<Item = Self> {
        let payees = payees as u64;
        (0..payees).map(move |payee| Self(self.0 / payees + u64::from(payee < self.0 % payees)))
    }
}

impl AccountId {
    /// The number, to index a table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, balance {}", self.status, self.balance)
    }
}

impl fmt::Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
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

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotOpened => "account was never opened",
            Self::AlreadyOpen => "account already open",
            Self::Closed => "account closed",
            Self::Frozen => "account frozen",
            Self::NotFrozen => "account not frozen",
            Self::InsufficientFunds => "insufficient funds",
            Self::NotEmpty => "account not empty",
            Self::LimitExceeded => "largest amount exceeded",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Cents = Cents(u64::MAX);

    fn open(number: u32, balance: Cents) -> Account {
        let mut account = Account::unopened(AccountId(number));
        account.apply(Change::Open(balance)).unwrap();
        account
    }

    fn reason(decision: Decision) -> Reason {
        decision.unwrap_err().reason
    }

    #[test]
    fn an_account_lives_from_opening_to_closing() {
        let mut a = Account::unopened(AccountId(0));
        assert_eq!(reason(a.apply(Change::Deposit(Cents(1)))), Reason::NotOpened);
        assert_eq!(a.apply(Change::Open(Cents(10))), Ok(Cents(10)));
        assert_eq!(reason(a.apply(Change::Open(Cents(10)))), Reason::AlreadyOpen);
        assert_eq!(reason(a.apply(Change::Unfreeze)), Reason::NotFrozen);
        assert_eq!(a.apply(Change::Freeze), Ok(Cents(10)));
        assert_eq!(reason(a.apply(Change::Withdraw(Cents(1)))), Reason::Frozen);
        assert_eq!(reason(a.apply(Change::Freeze)), Reason::Frozen);
        assert_eq!(reason(a.apply(Change::Close)), Reason::Frozen);
        assert_eq!(a.apply(Change::Unfreeze), Ok(Cents(10)));
        assert_eq!(reason(a.apply(Change::Close)), Reason::NotEmpty);
        assert_eq!(reason(a.apply(Change::Withdraw(Cents(11)))), Reason::InsufficientFunds);
        assert_eq!(a.apply(Change::Withdraw(Cents(10))), Ok(Cents(0)));
        assert_eq!(a.apply(Change::Close), Ok(Cents(0)));
        assert_eq!(reason(a.apply(Change::Open(Cents(1)))), Reason::Closed);
        assert_eq!(reason(a.apply(Change::Unfreeze)), Reason::Closed);
    }

    #[test]
    fn a_transfer_moves_money_or_nothing() {
        let (mut a, mut b) = (open(0, Cents(10)), open(1, Cents(0)));
        assert_eq!(transfer(&mut a, &mut b, Cents(7)), Ok(Cents(3)));
        assert_eq!((a.balance, b.balance), (Cents(3), Cents(7)));

        b.apply(Change::Freeze).unwrap();
        let before = (a, b);
        let rejection = transfer(&mut a, &mut b, Cents(1)).unwrap_err();
        assert_eq!(rejection, Rejection { reason: Reason::Frozen, account: AccountId(1) });
        assert_eq!((a, b), before);
    }

    #[test]
    fn a_split_that_fails_at_its_last_payee_changes_no_account() {
        let (mut a, mut b, mut c) = (open(0, Cents(10)), open(1, Cents(0)), open(2, FULL));
        let before = (a, b, c);
        let rejection = split(&mut a, &mut [&mut b, &mut c], Cents(5)).unwrap_err();
        assert_eq!(rejection, Rejection { reason: Reason::LimitExceeded, account: AccountId(2) });
        assert_eq!((a, b, c), before);

        c.apply(Change::Withdraw(Cents(2))).unwrap();
        split(&mut a, &mut [&mut b, &mut c], Cents(5)).unwrap();
        assert_eq!((a.balance, b.balance, c.balance), (Cents(5), Cents(3), FULL));
    }

    #[test]
    fn an_audit_adds_up_and_knows_its_limit() {
        let (a, mut b, full) = (open(0, Cents(3)), open(1, Cents(4)), open(2, FULL));
        b.apply(Change::Freeze).unwrap();
        assert_eq!(audit([&a, &b]), Ok(Cents(7)));
        assert_eq!(reason(audit([&a, &full])), Reason::LimitExceeded);
        let missing = audit([&a, &Account::unopened(AccountId(9))]).unwrap_err();
        assert_eq!(missing, Rejection { reason: Reason::NotOpened, account: AccountId(9) });
    }

    #[test]
    fn shares_add_up_to_the_amount() {
        for (amount, payees) in [(100, 3), (2, 5), (0, 4), (7, 1)] {
            let shares: Vec<_> = Cents(amount).shares(payees).map(|share| share.0).collect();
            assert_eq!((shares.len(), shares.iter().sum::<u64>()), (payees, amount));
        }
        assert!(Cents(100).shares(3).eq([Cents(34), Cents(33), Cents(33)]));
    }

    #[test]
    fn amounts_are_shown_in_units() {
        assert_eq!(Cents(123_456_705).to_string(), "1234567.05");
        assert_eq!(Cents(5).to_string(), "0.05");
    }
}
