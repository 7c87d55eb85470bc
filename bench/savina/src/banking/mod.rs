//! Transactions between accounts.

mod actor;
mod full;

use coact_bench_workloads::random::R16;
use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

const ACCOUNTS: u64 = 1_000;

fn transactions(setup: &Setup) -> u64 {
    setup.scaled(50_000)
}

/// A transaction, as the teller picks it.
struct Draw {
    from: usize,
    to: usize,
    amount: i64,
}

/// What the teller picks, one after the other.
fn draws(accounts: u64, transactions: u64) -> impl Iterator<Item = Draw> {
    let (accounts, mut random) = (accounts as u32, R16::new(74_755));
    (0..transactions).map(move |_| {
        let from = random.below(accounts * 8 / 10);
        let to = from + random.below(accounts - from).max(1);
        let amount = i64::from(1 + random.below(1_000));
        Draw { from: from as usize, to: to as usize, amount }
    })
}

/// The accounts' balances after all transactions, each times its place.
fn weighted(accounts: u64, transactions: u64) -> u64 {
    let place = |place: usize| place as i64 + 1;
    draws(accounts, transactions)
        .map(|draw| draw.amount * (place(draw.to) - place(draw.from)))
        .sum::<i64>() as u64
}

/// Two accounts at a time.
pub struct Banking;

impl Workload for Banking {
    fn name(&self) -> &'static str {
        "banking"
    }

    fn about(&self) -> &'static str {
        "transactions between 1,000 accounts, each over two; a transaction"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("accounts", ACCOUNTS), ("transactions", transactions(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect(
            "the weighted sum of the balances",
            weighted(ACCOUNTS, transactions(setup)),
            measured,
        )
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "an actor an account, which queues its transfers until the other one has answered",
                run: |setup| {
                    let number = transactions(setup);
                    super::run(setup, number, 1, move |done| actor::start(ACCOUNTS, number, done))
                },
            },
            Implementation {
                name: "coact-full",
                about: "a behaviour over both accounts a transaction",
                run: |setup| {
                    let number = transactions(setup);
                    super::run(setup, number, 1, move |done| full::start(ACCOUNTS, number, done))
                },
            },
        ]
    }
}
