//! Methods without an actor, or with too much of it.

#![allow(unused)]

use coact::prelude::*;

#[derive(Actor)]
struct Account;

#[handlers]
impl Account {
    #[message]
    fn without(amount: i64) {}

    #[message]
    fn by_value(self) {}

    #[message]
    fn boxed(self: Box<Self>, amount: i64) {}

    #[message]
    unsafe fn risky(&mut self) {}

    #[message(held)]
    async fn held_without_actor(amount: i64) {}
}

fn main() {}
