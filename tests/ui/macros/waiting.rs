//! Methods that wait, with the actor or without.

#![allow(unused)]

use coact::prelude::*;

#[derive(Actor)]
struct Account;

#[handlers]
impl Account {
    #[message]
    async fn may_deadlock(&mut self, amount: i64) -> i64 {
        amount
    }

    #[message(held)]
    fn never_waits(&mut self, amount: i64) -> i64 {
        amount
    }
}

fn main() {}
