//! The report on a market.

use std::fmt;
use std::time::Duration;

use crate::args::Demo;
use crate::exchange::snapshot::Snapshot;
use crate::rules::order_book::Level;

use super::tally::{Tally, Traded};

pub struct Summary<'a> {
    pub plan: &'a Demo,
    pub workers: usize,
    pub tally: &'a Tally,
    pub elapsed: Duration,
    pub snapshot: &'a Snapshot,
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Demo { seed, orders, traders } = self.plan;
        let workers = plural(self.workers as u64, "worker");
        let (orders, traders) = (plural(*orders, "order"), plural(*traders, "trader"));
        writeln!(f, "seed {seed}: {orders} of {traders} on {workers}\n")?;
        self.write_orders(f)?;
        self.write_latencies(f)?;
        self.write_symbols(f)?;
        self.write_totals(f)
    }
}

impl Summary<'_> {
    fn write_orders(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { refused, cancelled, .. } = self.tally;
        let seconds = self.elapsed.as_secs_f64();
        let rate = (self.plan.orders as f64 / seconds) as u64;
        let Traded { trades, .. } = self.tally.total();
        let (refused, cancelled) = (grouped(*refused), grouped(*cancelled));
        let (rate, trades) = (grouped(rate), grouped(trades));
        writeln!(f, "  orders   in {seconds:.2} s, {rate} per second; {refused} refused")?;
        writeln!(f, "  trades   {trades}; {cancelled} cancelled")
    }

    fn write_latencies(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sorted = &self.tally.latencies;
        write!(f, "  latency ")?;
        for (share, label) in [(0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %")] {
            write!(f, " {label} {},", micros(percentile(sorted, share)))?;
        }
        writeln!(f, " longest {}\n", micros(percentile(sorted, 1.0)))
    }

    fn write_symbols(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [symbol, orders, trades, shares] = ["symbol", "orders", "trades", "shares"];
        let [turnover, bid, ask] = ["turnover", "bid", "ask"];
        writeln!(
            f,
            "  {symbol:<8}{orders:>10}{trades:>10}{shares:>12}{turnover:>17}{bid:>10}{ask:>10}"
        )?;
        for book in &self.snapshot.books {
            let traded = self.tally.symbols.get(&book.symbol).copied().unwrap_or_default();
            let price = |levels: &[Level]| levels.first().map(|best| money(best.price.into()));
            let [bid, ask] = [&book.bids, &book.asks].map(|side| price(side).unwrap_or("-".into()));
            let [orders, trades, shares] =
                [traded.orders, traded.trades, traded.shares].map(grouped);
            let (symbol, turnover) = (&book.symbol, money(traded.turnover));
            writeln!(
                f,
                "  {symbol:<8}{orders:>10}{trades:>10}{shares:>12}{turnover:>17}{bid:>10}{ask:>10}"
            )?;
        }
        Ok(())
    }

    fn write_totals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = self.snapshot.totals();
        let cash = money(totals.cash);
        write!(f, "\n  accounts {cash}")?;
        for (symbol, shares) in totals.shares {
            write!(f, ", {} {symbol}", grouped(shares as u64))?;
        }
        writeln!(f, "; {} open", plural(totals.open_orders as u64, "order"))
    }
}

/// The latency that this share of all orders does not exceed.
fn percentile(sorted: &[Duration], share: f64) -> Duration {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

fn micros(latency: Duration) -> String {
    format!("{} µs", grouped(latency.as_micros() as u64))
}

fn plural(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Cents as whole units with two places.
fn money(cents: u128) -> String {
    format!("{}.{:02}", grouped((cents / 100) as u64), cents % 100)
}

/// A number with a comma before every three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([5, 123_456].map(money), ["0.05", "1,234.56"]);
        assert_eq!([1, 2].map(|count| plural(count, "order")), ["1 order", "2 orders"]);
    }

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let sorted: Vec<_> = (1..=1_000).map(Duration::from_micros).collect();
        let found = [0.5, 0.99, 0.999, 1.0].map(|share| percentile(&sorted, share).as_micros());
        assert_eq!(found, [500, 990, 999, 1_000]);
        assert_eq!(percentile(&[], 0.5), Duration::ZERO);
    }
}
