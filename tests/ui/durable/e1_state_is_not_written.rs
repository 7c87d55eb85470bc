//! The state of a durable actor is changed by its events alone.

use coact::durable::{Durable, EntityId, EventSourced, stored};
use coact::prelude::*;

struct Account {
    balance: u64,
}

#[stored(name = "deposited")]
struct Deposited(#[n(0)] u64);

impl EventSourced for Account {
    const KIND: &'static str = "account";
    type Event = Deposited;

    fn new(_: &EntityId) -> Self {
        Self { balance: 0 }
    }

    fn apply(&mut self, Deposited(amount): &Deposited) {
        self.balance += amount;
    }
}

fn rob(account: &Addr<Durable<Account>>) {
    when(account, |account| account.balance = 0);
}

fn main() {}
