//! One line of the file as an operation: what to do, and the names of the accounts it is done to.
//!
//! A line has three fields, `operation,accounts,amount`. Accounts are separated by semicolons,
//! amounts are whole cents, and a field may stand in double quotes.

use super::cents::Cents;
use super::fault::Fault;

/// The longest account name, in bytes.
pub const MAX_NAME: usize = 64;

/// What an operation does to its accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Changes every account it names; holds them exclusively.
    Update(Update),
    /// Adds up the balances; only reads.
    Audit,
}

/// An operation that changes accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Opens the account with this balance.
    Open(Cents),
    /// Pays in.
    Deposit(Cents),
    /// Pays out.
    Withdraw(Cents),
    /// Moves an amount from the first account to the second.
    Transfer(Cents),
    /// Moves an amount from the first account to all others, in equal shares.
    Split(Cents),
    /// Stops all movements of the account.
    Freeze,
    /// Allows them again.
    Unfreeze,
    /// Ends an empty account; its name is never used again.
    Close,
}

/// A well-formed line, borrowing the names from its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation<'line> {
    /// What to do.
    pub action: Action,
    accounts: &'line str,
}

impl<'line> Operation<'line> {
    /// Reads one line, without its line end. That no account is named twice is left to the register,
    /// which looks every name up anyway; what depends on the state of the accounts is decided when
    /// the operation runs.
    pub fn parse(line: &'line str) -> Result<Self, Fault> {
        if line.is_empty() {
            return Err(Fault::Blank);
        }
        let [operation, accounts, amount] = fields(line)?;
        let action = action(operation, amount)?;
        let mut count = 0;
        for name in pieces(accounts, b';') {
            if !is_name(name) {
                return Err(Fault::AccountName);
            }
            count += 1;
        }
        if !action.takes(count) {
            return Err(Fault::AccountCount);
        }
        Ok(Self { action, accounts })
    }

    /// The names of the accounts, in the order of the line.
    pub fn names(&self) -> impl Iterator<Item = &'line str> + use<'line> {
        pieces(self.accounts, b';')
    }
}

impl Update {
    /// The word that stands for it in a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open(_) => "open",
            Self::Deposit(_) => "deposit",
            Self::Withdraw(_) => "withdraw",
            Self::Transfer(_) => "transfer",
            Self::Split(_) => "split",
            Self::Freeze => "freeze",
            Self::Unfreeze => "unfreeze",
            Self::Close => "close",
        }
    }

    /// The money it moves, where it moves any.
    pub fn amount(self) -> Option<Cents> {
        match self {
            Self::Open(amount)
            | Self::Deposit(amount)
            | Self::Withdraw(amount)
            | Self::Transfer(amount)
            | Self::Split(amount) => Some(amount),
            Self::Freeze | Self::Unfreeze | Self::Close => None,
        }
    }
}

impl Action {
    fn takes(self, accounts: usize) -> bool {
        match self {
            Self::Update(Update::Transfer(_)) => accounts == 2,
            Self::Update(Update::Split(_)) => accounts >= 2,
            Self::Update(_) => accounts == 1,
            Self::Audit => accounts >= 1,
        }
    }
}

fn fields(line: &str) -> Result<[&str; 3], Fault> {
    let mut fields = pieces(line, b',').map(unquoted);
    let found = [fields.next(), fields.next(), fields.next()];
    match (found, fields.next()) {
        ([Some(first), Some(second), Some(third)], None) => Ok([first, second, third]),
        _ => Err(Fault::FieldCount),
    }
}

/// The pieces of `text` between separators. On pieces this short a plain loop takes half the time of
/// `str::split`, and the reading thread is what bounds a parallel replay.
fn pieces(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text.bytes().position(|byte| byte == separator);
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

fn unquoted(field: &str) -> &str {
    field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(field)
}

fn action(operation: &str, amount: &str) -> Result<Action, Fault> {
    let update = match operation {
        "open" => Update::Open(Cents::parse(amount)?),
        "deposit" => Update::Deposit(positive(amount)?),
        "withdraw" => Update::Withdraw(positive(amount)?),
        "transfer" => Update::Transfer(positive(amount)?),
        "split" => Update::Split(positive(amount)?),
        "freeze" => without(amount, Update::Freeze)?,
        "unfreeze" => without(amount, Update::Unfreeze)?,
        "close" => without(amount, Update::Close)?,
        "audit" => return without(amount, Action::Audit),
        _ => return Err(Fault::UnknownOperation),
    };
    Ok(Action::Update(update))
}

fn positive(amount: &str) -> Result<Cents, Fault> {
    match Cents::parse(amount)? {
        Cents::ZERO => Err(Fault::AmountZero),
        cents => Ok(cents),
    }
}

fn without<T>(amount: &str, action: T) -> Result<T, Fault> {
    if amount.is_empty() { Ok(action) } else { Err(Fault::AmountUnexpected) }
}

fn is_name(name: &str) -> bool {
    let is_plain = |byte| matches!(byte, b'!'..=b'~') && byte != b'"';
    let is_allowed = |c: char| c != '"' && !c.is_control();
    (1..=MAX_NAME).contains(&name.len())
        && (name.bytes().all(is_plain) || name.trim() == name && name.chars().all(is_allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cents(cents: u64) -> Cents {
        Cents::new(cents).unwrap()
    }

    #[test]
    fn every_operation_is_read() {
        for (line, action, names) in [
            ("open,a,0", Action::Update(Update::Open(cents(0))), "a"),
            ("deposit,a,5", Action::Update(Update::Deposit(cents(5))), "a"),
            ("withdraw,a,5", Action::Update(Update::Withdraw(cents(5))), "a"),
            ("transfer,a;b,5", Action::Update(Update::Transfer(cents(5))), "a b"),
            ("split,a;b;c,5", Action::Update(Update::Split(cents(5))), "a b c"),
            ("freeze,a,", Action::Update(Update::Freeze), "a"),
            ("unfreeze,a,", Action::Update(Update::Unfreeze), "a"),
            ("close,a,", Action::Update(Update::Close), "a"),
            ("audit,a;b;c,", Action::Audit, "a b c"),
            (r#""open","Zoë Müller","7""#, Action::Update(Update::Open(cents(7))), "Zoë Müller"),
        ] {
            let operation = Operation::parse(line).unwrap();
            assert_eq!(operation.action, action, "{line}");
            let found: Vec<_> = operation.names().collect();
            assert_eq!(found.join(" "), names);
        }
    }

    #[test]
    fn every_malformed_line_has_its_reason() {
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
            ("deposit,a;b,5", Fault::AccountCount),
            ("transfer,a,5", Fault::AccountCount),
            ("transfer,a;b;c,5", Fault::AccountCount),
            ("split,a,5", Fault::AccountCount),
            ("deposit,a,", Fault::AmountMissing),
            ("deposit,a,five", Fault::AmountNotANumber),
            ("deposit,a,99999999999999999999", Fault::AmountTooLarge),
            ("transfer,a;b,0", Fault::AmountZero),
            ("freeze,a,1", Fault::AmountUnexpected),
            (&format!("close,{},", "x".repeat(MAX_NAME + 1)), Fault::AccountName),
        ] {
            assert_eq!(Operation::parse(line), Err(fault), "{line:?}");
        }
    }
}
