//! A market in this process: traders with a seed, and a report on the outcome.

mod progress;
mod random;
mod summary;
mod tally;
mod trader;

use std::io::{Write, stdout};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use coact::prelude::*;
use coact::runtime::spawn_future;
use coact::system::System;

use crate::args::Demo;
use crate::exchange::Exchange;
use crate::exchange::snapshot::Snapshot;
use crate::rules::error::Error;
use crate::rules::name::Symbol;

use progress::Progress;
use random::Random;
use summary::Summary;
use tally::Tally;
use trader::Trader;

const SYMBOLS: [&str; 3] = ["ACME", "BOLT", "CORN"];
const DEADLINE: Duration = Duration::from_secs(10);

/// Runs a market, prints the outcome, and checks that nothing was made or lost.
pub fn run(plan: &Demo) -> Result<()> {
    let workers = available_parallelism().map_or(1, Into::into);
    let system = System::builder().workers(workers).build().context("cannot start the workers")?;
    let market = {
        let _entered = system.enter();
        hold_market(plan)?
    };
    let report = system.shutdown(DEADLINE);
    if !report.is_complete() {
        bail!("the system did not come to rest: {report}");
    }
    let Market { tally, elapsed, snapshot } = market;
    let summary = Summary { plan, workers, tally: &tally, elapsed, snapshot: &snapshot };
    write!(stdout(), "{summary}")?;
    check(plan, &snapshot)?;
    writeln!(
        stdout(),
        "  checked  this is what was paid in; nothing is reserved twice; no book is crossed"
    )?;
    Ok(())
}

/// What a market has left.
struct Market {
    tally: Tally,
    elapsed: Duration,
    snapshot: Snapshot,
}

fn hold_market(plan: &Demo) -> Result<Market> {
    let symbols = SYMBOLS.map(|symbol| symbol.parse().expect("it is one"));
    let exchange = Exchange::open(symbols.clone());
    let progress = Progress::new(plan.orders);
    let start = Instant::now();
    let trading = start_traders(plan, &exchange, &symbols, &progress);
    let mut tally = Tally::default();
    for trader in trading {
        tally.add(wait(trader, &progress)??);
    }
    let elapsed = start.elapsed();
    tally.sort();
    drop(progress);
    let snapshot = spawn_future(async move { exchange.snapshot().await }).wait()??;
    Ok(Market { tally, elapsed, snapshot })
}

/// Each trader is a future on the workers.
fn start_traders(
    plan: &Demo,
    exchange: &Exchange,
    symbols: &[Symbol],
    progress: &Progress,
) -> Vec<Promise<Result<Tally, Error>>> {
    let mut seeds = Random::new(plan.seed);
    let start = |number| {
        let random = Random::new(seeds.bits());
        let trader = Trader::new(exchange.clone(), symbols.to_vec(), number, random);
        // The first traders place one order more, if they cannot all place the same number.
        let more = u64::from(number < plan.orders % plan.traders);
        spawn_future(trader.trade(plan.orders / plan.traders + more, progress.counter()))
    };
    (0..plan.traders).map(start).collect()
}

/// Waits, and shows meanwhile how far all are.
fn wait<R: Send + 'static>(mut promise: Promise<R>, progress: &Progress) -> Result<R, Broken> {
    loop {
        match promise.wait_timeout(progress::INTERVAL) {
            Ok(result) => return result,
            Err(pending) => promise = pending,
        }
        progress.show();
    }
}

/// Nothing was made or lost: as much is there as was paid in.
fn check(plan: &Demo, snapshot: &Snapshot) -> Result<()> {
    snapshot.check().map_err(|wrong| anyhow!(wrong))?;
    let totals = snapshot.totals();
    let paid_in = u128::from(plan.traders * trader::CASH);
    if totals.cash != paid_in {
        bail!("{paid_in} cents were paid in, and {} are there", totals.cash);
    }
    let paid_in = u128::from(plan.traders * trader::SHARES);
    match totals.shares.iter().find(|(_, shares)| **shares != paid_in) {
        Some((symbol, shares)) => bail!("{paid_in} {symbol} were paid in, and {shares} are there"),
        None => Ok(()),
    }
}
