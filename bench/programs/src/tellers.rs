//! Transfers that check both accounts, by tellers each of whom keeps an order; without work, and
//! with some.

#[cfg(test)]
mod tests;

use std::time::Duration;

use coact_bench_workloads::random::R16;
use coact_bench_workloads::{Finish, Given, Measured};

use crate::runtime;

#[derive(Clone, Copy)]
pub struct Size {
    pub accounts: u64,
    /// Transfers of each teller.
    pub transfers: u64,
    pub tellers: u64,
    /// What is on each account at first.
    pub start: i64,
    /// What a transfer takes.
    pub work: Duration,
}

impl Size {
    fn of(given: &Given, work: u64) -> anyhow::Result<Size> {
        let tellers = given.number("tellers")?;
        Ok(Size {
            accounts: given.number("accounts")?,
            transfers: given.number("transfers")? / tellers,
            tellers,
            start: given.number("start")?.cast_signed(),
            work: Duration::from_micros(work),
        })
    }

    fn all_transfers(self) -> u64 {
        self.tellers * self.transfers
    }

    /// The transfers of a teller, in their order.
    pub fn transfers_of(self, teller: u64) -> impl Iterator<Item = Transfer> + Send + 'static {
        let (accounts, mut random) = (self.accounts as u32, R16::new(teller as u32 + 1));
        (0..self.transfers).map(move |_| {
            let (from, to) = (random.below(accounts), random.below(accounts));
            let to = if to == from { (to + 1) % accounts } else { to };
            let amount = i64::from(random.below(1_000));
            Transfer { from: from as usize, to: to as usize, amount }
        })
    }
}

/// An order to move money.
#[derive(Clone, Copy)]
pub struct Transfer {
    pub from: usize,
    pub to: usize,
    pub amount: i64,
}

/// Gets the balances of all accounts, in the end.
pub type Audit = Box<dyn FnOnce(Vec<i64>) + Send>;

/// Runs a form of it, without work.
pub fn reasonable(given: &Given, start: fn(Size, Audit)) -> anyhow::Result<Measured> {
    run(given, Size::of(given, 0)?, start)
}

/// Runs a form of it, with work in each transfer.
pub fn busy(given: &Given, start: fn(Size, Audit)) -> anyhow::Result<Measured> {
    run(given, Size::of(given, given.number("work")?)?, start)
}

fn run(given: &Given, size: Size, start: fn(Size, Audit)) -> anyhow::Result<Measured> {
    runtime::run(given, size.all_transfers(), 1, move |done: Finish| {
        start(
            size,
            Box::new(move |balances| done.part(balances.iter().sum::<i64>().cast_unsigned())),
        );
    })
}
