//! Why a line of the file is not an operation at all.

use std::fmt;

/// What is wrong with a malformed line. Such a line is reported and changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Fault {
    /// The file ends before the line does, so its last field may have lost digits.
    Truncated,
    /// The bytes are not UTF-8.
    NotUtf8,
    /// The line is longer than the reader is willing to hold.
    TooLong,
    /// Nothing on the line.
    Blank,
    /// Not exactly three fields.
    FieldCount,
    /// The first field names no operation.
    UnknownOperation,
    /// An account name is empty, too long, or has characters that names may not have.
    AccountName,
    /// More or fewer accounts than the operation takes.
    AccountCount,
    /// The same account twice in one operation.
    AccountTwice,
    /// The operation needs an amount.
    AmountMissing,
    /// The operation takes no amount.
    AmountUnexpected,
    /// Something other than digits in the amount.
    AmountNotANumber,
    /// More than the ledger can hold.
    AmountTooLarge,
    /// An amount of nothing where money must move.
    AmountZero,
}

impl Fault {
    /// Every fault, in the order of its discriminant.
    pub const ALL: [Self; 14] = [
        Self::Truncated,
        Self::NotUtf8,
        Self::TooLong,
        Self::Blank,
        Self::FieldCount,
        Self::UnknownOperation,
        Self::AccountName,
        Self::AccountCount,
        Self::AccountTwice,
        Self::AmountMissing,
        Self::AmountUnexpected,
        Self::AmountNotANumber,
        Self::AmountTooLarge,
        Self::AmountZero,
    ];

    /// The wording that reports use.
    pub fn text(self) -> &'static str {
        match self {
            Self::Truncated => "truncated: the file ends in the middle of the line",
            Self::NotUtf8 => "not UTF-8",
            Self::TooLong => "longer than 64 KiB",
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
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_the_order_of_the_discriminants() {
        for (index, fault) in Fault::ALL.into_iter().enumerate() {
            assert_eq!(fault as usize, index);
        }
    }
}
