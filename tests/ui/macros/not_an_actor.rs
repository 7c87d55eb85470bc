//! Handlers of a type that is no actor.

#![allow(unused)]

use coact::prelude::*;

struct Account;

#[handlers]
impl Account {
    #[message]
    fn deposit(&mut self, amount: i64) {}
}

fn main() {}
