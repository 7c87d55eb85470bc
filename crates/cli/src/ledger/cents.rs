//! Amounts of money: whole cents, never negative, never above a fixed limit.

use std::fmt;

use serde::Serialize;

use super::fault::Fault;

/// An amount in cents. Every value is at most [`Cents::MAX`], so that a balance, an amount and the
/// total of an audit each fit into the 60 bits that an encoded decision leaves for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Cents(u64);

impl Cents {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest amount that the ledger knows: eighteen nines.
    pub const MAX: Self = Self(999_999_999_999_999_999);

    /// The amount of `cents` cents, or `None` above the limit.
    pub fn new(cents: u64) -> Option<Self> {
        (cents <= Self::MAX.0).then_some(Self(cents))
    }

    /// Reads digits only: no sign, no point, no grouping.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        if text.is_empty() {
            return Err(Fault::AmountMissing);
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Fault::AmountNotANumber);
        }
        // Only digits are left, so the one way to fail is a number that is too large.
        let cents = text.parse().map_err(|_| Fault::AmountTooLarge)?;
        Self::new(cents).ok_or(Fault::AmountTooLarge)
    }

    /// The number of cents.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The sum, or `None` above the limit.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        // Two amounts below 10^18 cannot overflow 64 bits.
        Self::new(self.0 + other.0)
    }

    /// The difference, or `None` below zero.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// Share number `index` when this amount is divided over `count` payees: equal parts, and the
    /// cents that do not divide go to the first payees, one each. The shares add up to the amount.
    pub fn share(self, index: usize, count: usize) -> Self {
        let (count, index) = (count as u64, index as u64);
        Self(self.0 / count + u64::from(index < self.0 % count))
    }
}

impl fmt::Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = indicatif::HumanCount(self.0 / 100);
        f.pad(&format!("{units}.{:02}", self.0 % 100))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_digits_within_the_limit_are_amounts() {
        assert_eq!(Cents::parse("0"), Ok(Cents::ZERO));
        assert_eq!(Cents::parse("999999999999999999"), Ok(Cents::MAX));
        for (text, fault) in [
            ("", Fault::AmountMissing),
            ("-5", Fault::AmountNotANumber),
            ("+5", Fault::AmountNotANumber),
            ("1.50", Fault::AmountNotANumber),
            (" 5", Fault::AmountNotANumber),
            ("1000000000000000000", Fault::AmountTooLarge),
            ("18446744073709551616", Fault::AmountTooLarge),
            ("99999999999999999999999999", Fault::AmountTooLarge),
        ] {
            assert_eq!(Cents::parse(text), Err(fault), "{text:?}");
        }
    }

    #[test]
    fn sums_and_differences_stay_within_the_limits() {
        let one = Cents::new(1).unwrap();
        assert_eq!(Cents::MAX.checked_add(one), None);
        assert_eq!(Cents::MAX.checked_add(Cents::ZERO), Some(Cents::MAX));
        assert_eq!(Cents::ZERO.checked_sub(one), None);
        assert_eq!(Cents::new(u64::MAX), None);
    }

    #[test]
    fn shares_add_up_to_the_amount() {
        for (amount, count) in [(100, 3), (2, 5), (0, 4), (7, 1)] {
            let amount = Cents::new(amount).unwrap();
            let total: u64 = (0..count).map(|i| amount.share(i, count).get()).sum();
            assert_eq!(total, amount.get());
        }
        assert_eq!(Cents::new(100).unwrap().share(0, 3).get(), 34);
        assert_eq!(Cents::new(100).unwrap().share(2, 3).get(), 33);
    }

    #[test]
    fn amounts_are_shown_in_units_with_groups() {
        assert_eq!(Cents::new(123_456_705).unwrap().to_string(), "1,234,567.05");
        assert_eq!(format!("{:>8}", Cents::new(5).unwrap()), "    0.05");
    }
}
