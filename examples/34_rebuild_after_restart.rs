//! State that is derived from a cown, and rebuilt after a restart, without a moment in which
//! anybody sees it as it was not meant.
//!
//! The actor must not hold itself for an `ask` on the cown: a behaviour over both, which has the
//! cown already and waits for the actor, would wait for it for ever. So it says that its state is
//! stale, and a program that has both rebuilds it: a behaviour that the restart spawns, or one that
//! was queued before.

use coact::Context;
use coact::prelude::*;

type Ledger = Cown<Vec<i64>>;

struct Report {
    ledger: Ledger,
    /// Derived from the ledger.
    sum: Option<i64>,
    /// Messages that need the sum are set aside until it is there, and stay in their order.
    is_ready: bool,
}

impl Report {
    fn new(ledger: Ledger) -> Self {
        Self { ledger, sum: None, is_ready: false }
    }

    /// The sum, for a caller that has the ledger too.
    fn sum(&mut self, ledger: &[i64]) -> &mut i64 {
        self.sum.get_or_insert_with(|| ledger.iter().sum())
    }

    /// Has the sum rebuilt when the ledger and this actor are both free.
    fn rebuild_soon(&self, context: &Context<Self>) {
        let this = context.address();
        when((self.ledger.read(), &context.address()), move |(ledger, report)| {
            report.sum(ledger);
            // Behind this behaviour; should the actor have ended, there is nothing to go on with.
            let _ = this.send(Ready);
        });
    }
}

impl Actor for Report {
    fn started(&mut self, context: &mut Context<Self>) {
        self.rebuild_soon(context);
    }

    fn restarted(&mut self, _: &ExitReason, context: &mut Context<Self>) {
        self.rebuild_soon(context);
    }
}

struct Ready;

impl Message for Ready {
    type Reply = ();
}

impl Handler<Ready> for Report {
    fn handle(&mut self, _: Ready, context: &mut Context<Self>) {
        self.is_ready = true;
        context.unstash_all();
    }
}

struct Sum;

impl Message for Sum {
    type Reply = i64;
}

impl Receive<Sum> for Report {
    fn receive(&mut self, sum: Sum, reply: Reply<i64>, context: &mut Context<Self>) {
        match self.sum.filter(|_| self.is_ready) {
            Some(sum) => reply.send(sum),
            None => _ = context.stash(sum, reply),
        }
    }
}

/// Books an amount, and keeps the report up to date: one step.
fn book(ledger: &Ledger, report: &Addr<Report>, amount: i64) {
    when((ledger, report), move |(ledger, report)| {
        *report.sum(ledger) += amount;
        ledger.push(amount);
    });
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ledger = Cown::new(vec![1, 2, 3]);
    let make = {
        let ledger = ledger.clone();
        move || Report::new(ledger.clone())
    };
    let report = actor(make()).restartable(make).spawn();
    assert_eq!(report.ask(Sum).wait()?, 6);

    // As a supervisor does after a panic.
    report.restart()?;
    // This one may have the ledger before the report is there again.
    book(&ledger, &report, 10);
    println!("the sum is {}", report.ask(Sum).wait()?);
    let both = call((&ledger, &report), |(ledger, report)| {
        (ledger.iter().sum::<i64>(), *report.sum(ledger))
    });
    assert_eq!(both.wait()?, (16, 16));
    Ok(())
}
