//! A message that the actor does not know.

#![allow(unused)]

use coact::prelude::*;

#[derive(Actor)]
struct Account;

#[handlers]
impl Account {
    #[message]
    fn deposit(&mut self, amount: i64) {}

    #[message]
    fn withdraw(&mut self, amount: i64) {}
}

#[derive(Message)]
struct Burn(i64);

struct NoMessage;

fn main() {
    let account = spawn(Account);
    let _ = account.send(Burn(5));
    let _ = account.ask(Burn(5));
    let _ = account.send(NoMessage);
}
