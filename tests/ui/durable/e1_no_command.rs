//! A durable actor takes what its entity decides on.

use coact::durable::{Durable, EntityId, EventSourced, stored};
use coact::prelude::*;

struct Account;

#[stored(name = "deposited")]
struct Deposited(#[n(0)] u64);

impl EventSourced for Account {
    const KIND: &'static str = "account";
    type Event = Deposited;

    fn new(_: &EntityId) -> Self {
        Self
    }

    fn apply(&mut self, _: &Deposited) {}
}

#[derive(Message)]
struct Deposit;

fn main() {
    let _: fn(&Addr<Durable<Account>>) = |account| {
        let _ = account.send(Deposit);
    };
}
