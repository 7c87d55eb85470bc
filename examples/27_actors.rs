//! Typed actors: messages out of methods, asks, and one atomic step over two of them.

use coact::Context;
use coact::prelude::*;

#[derive(Actor)]
struct Account {
    balance: i64,
}

#[handlers]
impl Account {
    /// Puts money in, and answers with the balance.
    #[message]
    fn deposit(&mut self, amount: i64) -> i64 {
        self.balance += amount;
        self.balance
    }

    #[message]
    fn balance(&self) -> i64 {
        self.balance
    }
}

/// The same by hand: a message that anybody may define, for an actor that is his own.
struct Close;

impl Message for Close {
    type Reply = i64;
}

impl Handler<Close> for Account {
    fn handle(&mut self, _: Close, context: &mut Context<Self>) -> i64 {
        context.stop();
        self.balance
    }
}

/// Answers nothing itself: it leaves the answer to an account.
#[derive(Actor)]
struct Desk(Addr<Account>);

impl Receive<Deposit> for Desk {
    fn receive(&mut self, deposit: Deposit, reply: Reply<i64>, _: &mut Context<Self>) {
        // If the account has ended, the asker is told so.
        let _ = self.0.forward(deposit, reply);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (alice, bob) = (spawn(Account { balance: 0 }), spawn(Account { balance: 0 }));

    // Sent and forgotten; it comes before everything below, since it was sent before.
    alice.send(Deposit { amount: 100 })?;

    // Both accounts in one step: the money is never in neither or in both.
    when((&alice, &bob), |(alice, bob)| {
        alice.balance -= 30;
        bob.balance += 30;
    });

    // Asked, and waited for. In an async function: `.await`.
    assert_eq!(alice.ask(Balance).wait()?, 70);

    // Asked of one, answered by another.
    let desk = spawn(Desk(alice));
    assert_eq!(desk.ask(Deposit { amount: 5 }).wait()?, 75);

    // An actor that has ended says so, and gives messages back.
    assert_eq!(bob.ask(Close).wait()?, 30);
    bob.ended().wait()?;
    let refused = bob.send(Deposit { amount: 1 }).unwrap_err();
    println!("{refused}");
    assert_eq!(refused.into_message().amount, 1);
    assert_eq!(bob.ask(Balance).wait(), Err(AskError::Stopped(ExitReason::Normal)));
    Ok(())
}
