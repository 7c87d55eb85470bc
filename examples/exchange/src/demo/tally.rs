//! What traders have done, added up.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::rules::matching::Execution;
use crate::rules::name::Symbol;

#[derive(Debug, Default)]
pub struct Tally {
    /// Orders that the account could not pay for.
    pub refused: u64,
    pub cancelled: u64,
    pub symbols: BTreeMap<Symbol, Traded>,
    /// From each order to its answer: sorted once all are added.
    pub latencies: Vec<Duration>,
}

/// What has happened in one symbol.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traded {
    pub orders: u64,
    pub trades: u64,
    pub shares: u64,
    /// In cents.
    pub turnover: u128,
}

impl Tally {
    pub fn accepted(&mut self, execution: &Execution) {
        let traded = self.symbols.entry(execution.order.symbol.clone()).or_default();
        traded.orders += 1;
        for trade in &execution.trades {
            traded.trades += 1;
            traded.shares += trade.quantity;
            traded.turnover += u128::from(trade.quantity * trade.price);
        }
    }

    pub fn add(&mut self, other: Self) {
        self.refused += other.refused;
        self.cancelled += other.cancelled;
        self.latencies.extend(other.latencies);
        for (symbol, traded) in other.symbols {
            self.symbols.entry(symbol).or_default().add(traded);
        }
    }

    pub fn sort(&mut self) {
        self.latencies.sort_unstable();
    }

    pub fn total(&self) -> Traded {
        let mut total = Traded::default();
        self.symbols.values().for_each(|traded| total.add(*traded));
        total
    }
}

impl Traded {
    fn add(&mut self, other: Self) {
        self.orders += other.orders;
        self.trades += other.trades;
        self.shares += other.shares;
        self.turnover += other.turnover;
    }
}
