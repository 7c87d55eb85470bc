//! Transfers between accounts: a behaviour over two cowns is one atomic step, without locks and
//! without an order to remember.

use coact::behaviour::{Overlap, Refusal};
use coact::prelude::*;

struct Account {
    balance: i64,
}

/// Moves money, if there is enough. Holds both accounts from start to end.
fn transfer(from: &Cown<Account>, to: &Cown<Account>, amount: i64) {
    when((from, to), move |(from, to)| {
        if from.balance >= amount {
            from.balance -= amount;
            to.balance += amount;
        }
    });
}

fn main() {
    let alice = Cown::new(Account { balance: 100 });
    let bob = Cown::new(Account { balance: 0 });

    // Opposite directions at the same time: with two mutexes a classic deadlock, here just two
    // behaviours. They overlap, so they run in the order of these lines.
    transfer(&alice, &bob, 70);
    transfer(&bob, &alice, 50);
    transfer(&alice, &bob, 500);

    // A behaviour over any number of accounts, in one slice.
    let accounts = [alice, bob];
    let total = call(&accounts[..], |accounts| accounts.iter().map(|a| a.balance).sum::<i64>());
    assert_eq!(total.wait(), Ok(100));

    let [alice, bob] = accounts.each_ref().map(|account| call(account, |a| a.balance).wait());
    println!("alice has {alice:?}, bob has {bob:?}");
    assert_eq!((alice, bob), (Ok(80), Ok(20)));

    // Naming a cown twice could never be granted. `when` would panic here, at the caller, before
    // anything is queued; `try_when` gives the closure back.
    let [account, _] = &accounts;
    let error = try_when((account, account), |(a, b)| a.balance += b.balance).unwrap_err();
    println!("refused: {error}");
    assert_eq!(error.refusal, Refusal::Overlap(Overlap { first: 0, second: 1 }));
}
