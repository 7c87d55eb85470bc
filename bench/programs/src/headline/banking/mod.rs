//! Transfers that check both accounts, by tellers each of whom keeps an order; without work, and with some.

mod actor;
mod behaviour;

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::runtime;
use coact_bench_workloads::random::R16;
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{
    Drawing, Finish, Group, Implementation, Measured, Setup, Unit, Workload,
};

#[derive(Clone, Copy)]
struct Size {
    accounts: u64,
    /// Transfers of each teller.
    transfers: u64,
    tellers: u64,
    /// What is on each account at first.
    start: i64,
    /// What a transfer takes.
    work: Duration,
}

impl Size {
    fn of(work: u64, setup: &Setup) -> Size {
        Size {
            accounts: 1_000,
            transfers: setup.scaled(50_000 / 10),
            tellers: 10,
            start: 10_000,
            work: Duration::from_micros(work),
        }
    }

    fn all_transfers(self) -> u64 {
        self.tellers * self.transfers
    }

    /// The transfers of a teller, in their order.
    fn transfers_of(self, teller: u64) -> impl Iterator<Item = Transfer> + Send + 'static {
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
struct Transfer {
    from: usize,
    to: usize,
    amount: i64,
}

/// Gets the balances of all accounts, in the end.
type Audit = Box<dyn FnOnce(Vec<i64>) + Send>;

/// A bank, and how many microseconds of work a transfer is.
pub struct Banking<const WORK: u64> {
    /// The name of the workload.
    pub name: &'static str,
}

impl<const WORK: u64> Workload for Banking<WORK> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "10 tellers make 50,000 transfers among 1,000 accounts, each all or nothing; the whole"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn drawing(&self, setup: &Setup) -> Drawing {
        let size = Size::of(WORK, setup);
        match WORK {
            0 => Drawing::Bars,
            _ => Drawing::Workers {
                ideal: Some(size.all_transfers() as f64 * size.work.as_secs_f64()),
            },
        }
    }

    fn unit(&self) -> Unit {
        Unit::Seconds
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let size = Size::of(WORK, setup);
        let mut parameters = vec![
            ("accounts", size.accounts),
            ("transfers", size.all_transfers()),
            ("tellers", size.tellers),
            ("start", size.start.cast_unsigned()),
        ];
        if WORK > 0 {
            parameters.push(("work", WORK));
        }
        parameters
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        let Size { accounts, start, .. } = Size::of(WORK, setup);
        expect("the sum of the balances", accounts * start.cast_unsigned(), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "an account is a cown, a transfer one behaviour on two",
                run: |setup| run(setup, Size::of(WORK, setup), behaviour::start),
            },
            Implementation {
                name: "coact-actors",
                about: "accounts that are acquired, a manager a transfer, and two phases",
                run: |setup| run(setup, Size::of(WORK, setup), actor::start),
            },
        ]
    }
}

fn run(setup: &Setup, size: Size, start: fn(Size, Audit)) -> Measured {
    runtime::run(setup, size.all_transfers(), 1, move |done: Finish| {
        start(
            size,
            Box::new(move |balances| done.part(balances.iter().sum::<i64>().cast_unsigned())),
        );
    })
}
