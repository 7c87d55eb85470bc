//! Listing 1, line 6: the state of a cown cannot be had outside of a behaviour.

use coact::prelude::*;

struct Account {
    balance: i64,
}

fn main() {
    let account = Cown::new(Account { balance: 0 });
    account.balance += 100;
}
