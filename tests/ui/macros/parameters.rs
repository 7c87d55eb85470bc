//! Parameters that cannot be fields of a message.

#![allow(unused)]

use coact::prelude::*;

#[derive(Actor)]
struct Account;

trait Bank {
    type Money;
}

impl Bank for Account {
    type Money = i64;
}

#[handlers]
impl Account {
    #[message]
    fn pattern(&mut self, (amount, fee): (i64, i64)) {}

    #[message]
    fn nameless(&mut self, _: i64) {}

    #[message]
    fn bound(&mut self, ref amount: i64) {}

    #[message]
    fn borrowed(&mut self, name: &str) {}

    #[message]
    fn conditional(&mut self, #[cfg(all())] amount: i64) {}

    #[message]
    fn projected(&mut self, amount: Self::Money) {}
}

fn main() {}
