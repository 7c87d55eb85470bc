//! The names of accounts and of what is traded.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The name of an account: up to 32 letters, digits, `-` and `_`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Name(Arc<str>);

/// What is traded: up to 8 capital letters and digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Symbol(Arc<str>);

/// A text that is no [`Name`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no account name: use 1 to 32 letters, digits, `-` and `_`")]
pub struct BadName(String);

/// A text that is no [`Symbol`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no symbol: use 1 to 8 capital letters and digits")]
pub struct BadSymbol(String);

/// What is quoted of a bad one.
fn excerpt(text: &str) -> String {
    text.chars().take(48).collect()
}

impl FromStr for Name {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match matches!(text.len(), 1..=32) && text.chars().all(is_allowed) {
            true => Ok(Self(text.into())),
            false => Err(BadName(excerpt(text))),
        }
    }
}

impl FromStr for Symbol {
    type Err = BadSymbol;

    fn from_str(text: &str) -> Result<Self, BadSymbol> {
        let is_allowed = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
        match matches!(text.len(), 1..=8) && text.chars().all(is_allowed) {
            true => Ok(Self(text.into())),
            false => Err(BadSymbol(excerpt(text))),
        }
    }
}

impl TryFrom<String> for Name {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        text.parse()
    }
}

impl TryFrom<String> for Symbol {
    type Error = BadSymbol;

    fn try_from(text: String) -> Result<Self, BadSymbol> {
        text.parse()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_symbols_are_short_and_plain() {
        for good in ["a", "Ann-1_b", &"x".repeat(32)] {
            assert!(good.parse::<Name>().is_ok(), "{good}");
        }
        for bad in ["", "a b", "ä", "a/b", &"x".repeat(33)] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
        assert!("ACME".parse::<Symbol>().is_ok());
        for bad in ["", "acme", "AC-ME", "ABCDEFGHI"] {
            assert!(bad.parse::<Symbol>().is_err(), "{bad}");
        }
    }
}
