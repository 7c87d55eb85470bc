//! An amount of which a part is reserved.

use serde::Serialize;

/// An amount of cash or of shares. What is reserved for open orders cannot be spent otherwise.
///
/// It has twice the width of a single movement, so that no sum of movements overflows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Balance {
    total: u128,
    reserved: u128,
}

/// There is not as much available as was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    pub available: u128,
    pub needed: u128,
}

impl Balance {
    pub fn total(self) -> u128 {
        self.total
    }

    pub fn reserved(self) -> u128 {
        self.reserved
    }

    pub fn available(self) -> u128 {
        self.total - self.reserved
    }

    /// Checks that as much is available.
    pub fn check(self, needed: u128) -> Result<(), Short> {
        let available = self.available();
        if needed <= available { Ok(()) } else { Err(Short { available, needed }) }
    }

    pub fn add(&mut self, amount: u128) {
        self.total += amount;
    }

    /// Takes an amount out of what is available.
    pub fn take(&mut self, amount: u128) -> Result<(), Short> {
        self.check(amount)?;
        self.total -= amount;
        Ok(())
    }

    /// Reserves an amount of what is available.
    pub fn reserve(&mut self, amount: u128) -> Result<(), Short> {
        self.check(amount)?;
        self.reserved += amount;
        Ok(())
    }

    /// Makes a reserved amount available again.
    ///
    /// # Panics
    /// If it is not reserved.
    pub fn release(&mut self, amount: u128) {
        assert!(amount <= self.reserved, "{amount} is to be released of {self:?}");
        self.reserved -= amount;
    }

    /// Takes an amount out of what is reserved.
    ///
    /// # Panics
    /// If it is not reserved.
    pub fn take_reserved(&mut self, amount: u128) {
        self.release(amount);
        self.total -= amount;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_spent_twice() {
        let mut cash = Balance::default();
        cash.add(100);
        cash.reserve(70).unwrap();
        assert_eq!(cash.take(31), Err(Short { available: 30, needed: 31 }));
        assert_eq!(cash.reserve(31), Err(Short { available: 30, needed: 31 }));
        cash.take(30).unwrap();
        cash.take_reserved(50);
        cash.release(20);
        assert_eq!((cash.total(), cash.reserved(), cash.available()), (20, 0, 20));
    }

    #[test]
    #[should_panic(expected = "is to be released")]
    fn what_is_not_reserved_cannot_be_released() {
        Balance::default().release(1);
    }
}
