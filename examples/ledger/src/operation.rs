//! What can be asked of the bank, and the line of CSV that asks it.
//!
//! A line has three fields, `operation,accounts,amount`. Semicolons separate accounts, amounts are
//! whole cents, and a field may stand in double quotes.

use std::fmt;
use std::slice;

use crate::account::{AccountId, Cents, Change};

/// The longest account name, in bytes.
const MAX_NAME: usize = 64;

/// One operation. It names each account at most once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Changes one account.
    Change(Change, AccountId),
    /// Moves money from one account to another.
    Transfer { amount: Cents, from: AccountId, to: AccountId },
    /// Moves money from one account to several, in equal shares.
    Split { amount: Cents, from: AccountId, to: Box<[AccountId]> },
    /// Adds up the balances; only reads.
    Audit(Box<[AccountId]>),
}

/// Why a line is no operation. Such a line changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The file ends before the line does, so its last field may have lost digits.
    Truncated,
    NotUtf8,
    Blank,
    FieldCount,
    UnknownOperation,
    AccountName,
    AccountCount,
    AccountTwice,
    AmountMissing,
    AmountUnexpected,
    AmountNotANumber,
    AmountTooLarge,
    AmountZero,
}

impl Operation {
    /// Reads a line, without its line end. `id` gives names their numbers; a malformed line asks
    /// for none.
    pub fn parse(line: &str, mut id: impl FnMut(&str) -> AccountId) -> Result<Self, Fault> {
        let [operation, accounts, amount] = fields(line)?;
        let names: Vec<_> = accounts.split(';').collect();
        check(&names)?;
        // The amounts come first: they may be malformed, and names may not any more.
        Ok(match (operation, &names[..]) {
            ("open", [name]) => Self::Change(Change::Open(cents(amount)?), id(name)),
            ("deposit", [name]) => Self::Change(Change::Deposit(positive(amount)?), id(name)),
            ("withdraw", [name]) => Self::Change(Change::Withdraw(positive(amount)?), id(name)),
            ("transfer", [from, to]) => {
                Self::Transfer { amount: positive(amount)?, from: id(from), to: id(to) }
            }
            ("split", [from, to @ ..]) if !to.is_empty() => Self::Split {
                amount: positive(amount)?,
                from: id(from),
                to: to.iter().map(|name| id(name)).collect(),
            },
            ("freeze", [name]) => Self::Change(without(amount, Change::Freeze)?, id(name)),
            ("unfreeze", [name]) => Self::Change(without(amount, Change::Unfreeze)?, id(name)),
            ("close", [name]) => Self::Change(without(amount, Change::Close)?, id(name)),
            ("audit", names) => {
                without(amount, ())?;
                Self::Audit(names.iter().map(|name| id(name)).collect())
            }
            ("open" | "deposit" | "withdraw" | "transfer" | "split", _)
            | ("freeze" | "unfreeze" | "close", _) => return Err(Fault::AccountCount),
            _ => return Err(Fault::UnknownOperation),
        })
    }

    /// The accounts, in the order of the line.
    pub fn accounts(&self) -> impl Iterator<Item = AccountId> + '_ {
        let (first, others): (Option<AccountId>, &[AccountId]) = match self {
            Self::Change(_, id) => (Some(*id), &[]),
            Self::Transfer { from, to, .. } => (Some(*from), slice::from_ref(to)),
            Self::Split { from, to, .. } => (Some(*from), to),
            Self::Audit(all) => (None, all),
        };
        first.into_iter().chain(others.iter().copied())
    }

    /// The first field of the line.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Change(Change::Open(_), _) => "open",
            Self::Change(Change::Deposit(_), _) => "deposit",
            Self::Change(Change::Withdraw(_), _) => "withdraw",
            Self::Change(Change::Freeze, _) => "freeze",
            Self::Change(Change::Unfreeze, _) => "unfreeze",
            Self::Change(Change::Close, _) => "close",
            Self::Transfer { .. } => "transfer",
            Self::Split { .. } => "split",
            Self::Audit(_) => "audit",
        }
    }

    /// The last field of the line, if it is not empty.
    pub fn amount(&self) -> Option<Cents> {
        match self {
            Self::Change(
                Change::Open(amount) | Change::Deposit(amount) | Change::Withdraw(amount),
                _,
            )
            | Self::Transfer { amount, .. }
            | Self::Split { amount, .. } => Some(*amount),
            Self::Change(..) | Self::Audit(_) => None,
        }
    }
}

fn fields(line: &str) -> Result<[&str; 3], Fault> {
    if line.is_empty() {
        return Err(Fault::Blank);
    }
    let mut fields = line.split(',').map(unquoted);
    match [(); 4].map(|()| fields.next()) {
        [Some(first), Some(second), Some(third), None] => Ok([first, second, third]),
        _ => Err(Fault::FieldCount),
    }
}

fn unquoted(field: &str) -> &str {
    field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(field)
}

fn check(names: &[&str]) -> Result<(), Fault> {
    if !names.iter().all(|name| is_name(name)) {
        return Err(Fault::AccountName);
    }
    // Sorted, since a line may be long, and is not to be trusted.
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        true => Err(Fault::AccountTwice),
        false => Ok(()),
    }
}

fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c != '"' && !c.is_control();
    (1..=MAX_NAME).contains(&name.len()) && name.trim() == name && name.chars().all(is_allowed)
}

/// Digits only: no sign, no point, no grouping.
fn cents(amount: &str) -> Result<Cents, Fault> {
    if amount.is_empty() {
        return Err(Fault::AmountMissing);
    }
    if !amount.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Fault::AmountNotANumber);
    }
    amount.parse().map(Cents).map_err(|_| Fault::AmountTooLarge)
}

fn positive(amount: &str) -> Result<Cents, Fault> {
    match cents(amount)? {
        Cents(0) => Err(Fault::AmountZero),
        cents => Ok(cents),
    }
}

fn without<T>(amount: &str, value: T) -> Result<T, Fault> {
    if amount.is_empty() { Ok(value) } else { Err(Fault::AmountUnexpected) }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "truncated: the file ends in the middle of the line",
            Self::NotUtf8 => "not UTF-8",
            Self::Blank => "blank line",
            Self::FieldCount => "not three fields",
            Self::UnknownOperation => "unknown operation",
            Self::AccountName => "not an account name",
            Self::AccountCount => "wrong number of accounts",
            Self::AccountTwice => "same account twice",
            Self::AmountMissing => "amount missing",
            Self::AmountUnexpected => "amount where none belongs",
            Self::AmountNotANumber => "amount not in whole cents",
            Self::AmountTooLarge => "amount too large",
            Self::AmountZero => "amount of zero",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a line whose accounts are numbered in the order in which they are asked for.
    fn parse(line: &str) -> Result<(Operation, String), Fault> {
        let mut asked = Vec::new();
        let operation = Operation::parse(line, |name| {
            asked.push(name.to_owned());
            AccountId(asked.len() as u32 - 1)
        })?;
        assert!(operation.accounts().eq((0..asked.len() as u32).map(AccountId)), "{line}");
        Ok((operation, asked.join(" ")))
    }

    #[test]
    fn every_operation_is_read() {
        let [a, b, c] = [0, 1, 2].map(AccountId);
        let change = |change| Operation::Change(change, a);
        let (amount, from) = (Cents(5), a);
        for (line, operation, names) in [
            ("open,a,0", change(Change::Open(Cents(0))), "a"),
            ("deposit,a,5", change(Change::Deposit(amount)), "a"),
            ("withdraw,a,5", change(Change::Withdraw(amount)), "a"),
            ("transfer,a;b,5", Operation::Transfer { amount, from, to: b }, "a b"),
            ("split,a;b;c,5", Operation::Split { amount, from, to: [b, c].into() }, "a b c"),
            ("freeze,a,", change(Change::Freeze), "a"),
            ("unfreeze,a,", change(Change::Unfreeze), "a"),
            ("close,a,", change(Change::Close), "a"),
            ("audit,a;b;c,", Operation::Audit([a, b, c].into()), "a b c"),
            (r#""open","Zoë Müller","5""#, change(Change::Open(amount)), "Zoë Müller"),
            ("open,a,18446744073709551615", change(Change::Open(Cents(u64::MAX))), "a"),
        ] {
            let word = operation.word();
            assert!(line.trim_start_matches('"').starts_with(word), "{word:?} of {line:?}");
            assert_eq!(parse(line), Ok((operation, names.into())), "{line}");
        }
    }

    #[test]
    fn every_malformed_line_has_its_reason_and_numbers_no_account() {
        let long = format!("close,{},", "x".repeat(MAX_NAME + 1));
        for (line, fault) in [
            ("", Fault::Blank),
            ("deposit", Fault::FieldCount),
            ("deposit,a", Fault::FieldCount),
            ("deposit,a,5,", Fault::FieldCount),
            ("Deposit,a,5", Fault::UnknownOperation),
            ("deposit,,5", Fault::AccountName),
            ("deposit, a,5", Fault::AccountName),
            ("deposit,a\u{7},5", Fault::AccountName),
            ("deposit,a\"b,5", Fault::AccountName),
            ("audit,a;;b,", Fault::AccountName),
            (&long, Fault::AccountName),
            ("deposit,a;b,5", Fault::AccountCount),
            ("transfer,a,5", Fault::AccountCount),
            ("transfer,a;b;c,5", Fault::AccountCount),
            ("split,a,5", Fault::AccountCount),
            ("transfer,a;a,5", Fault::AccountTwice),
            ("audit,b;a;c;a,", Fault::AccountTwice),
            ("deposit,a,", Fault::AmountMissing),
            ("deposit,a,five", Fault::AmountNotANumber),
            ("deposit,a,-5", Fault::AmountNotANumber),
            ("deposit,a,+5", Fault::AmountNotANumber),
            ("deposit,a,1.50", Fault::AmountNotANumber),
            ("deposit,a, 5", Fault::AmountNotANumber),
            ("deposit,a,18446744073709551616", Fault::AmountTooLarge),
            ("split,a;b;c,99999999999999999999999999", Fault::AmountTooLarge),
            ("transfer,a;b,0", Fault::AmountZero),
            ("freeze,a,1", Fault::AmountUnexpected),
            ("audit,a;b,1", Fault::AmountUnexpected),
        ] {
            let found = Operation::parse(line, |name| panic!("{line:?} numbers {name}"));
            assert_eq!(found, Err(fault), "{line:?}");
        }
    }
}
