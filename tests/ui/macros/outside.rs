//! A mark without `#[handlers]`.

#![allow(unused)]

use coact::prelude::*;

#[derive(Actor)]
struct Account;

impl Account {
    #[message]
    fn deposit(&mut self, amount: i64) {}
}

#[message(reply = i64)]
struct NotDerived;

fn main() {}
