//! Finding actors by name, and by an identity that can be written down.

use coact::Context;
use coact::prelude::*;
use coact::registry::{LookupError, lookup, registry, wait_for};
use coact::runtime::spawn_future;

struct Bank {
    balance: i64,
}

impl Actor for Bank {}

struct Deposit(i64);

impl Message for Deposit {
    type Reply = i64;
}

impl Handler<Deposit> for Bank {
    fn handle(&mut self, deposit: Deposit, _: &mut Context<Self>) -> i64 {
        self.balance += deposit.0;
        self.balance
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A wait for a bank that does not exist yet.
    let customer = spawn_future(async { wait_for::<Bank>("bank").await });

    let bank = actor(Bank { balance: 100 }).named("bank").named("corner").spawn();
    customer.wait()??.send(Deposit(5))?;

    // A name is typed, and belongs to one actor.
    assert_eq!(lookup::<Bank>("corner")?, bank);
    assert_eq!(lookup::<Bank>("shop"), Err(LookupError::Unknown));
    let taken = actor(Bank { balance: 0 }).named("bank").try_spawn().unwrap_err();
    println!("{taken}");

    // An identity of 128 bits, for logs and other processes.
    let written = bank.uid().to_string();
    let found = registry().lookup_uid::<Bank>(written.parse()?)?;
    assert_eq!(found.ask(Deposit(7)).wait()?, 112);

    for (name, actor) in registry().names() {
        println!("{name}: {actor:?}");
    }

    // The end of an actor gives its names back.
    bank.stop()?;
    bank.ended().wait()?;
    assert_eq!(lookup::<Bank>("bank"), Err(LookupError::Unknown));
    assert!(registry().names().is_empty());
    Ok(())
}
