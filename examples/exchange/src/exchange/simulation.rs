//! The whole exchange under simulation: traders, a book that fails, and pictures of everything, in
//! any order.

use coact::runtime::spawn_future;
use coact::sim::{self, Config, Sim};

use crate::rules::matching::Trade;
use crate::rules::order::{Side, Status};

use super::snapshot::Totals;
use super::*;

const CASH: u64 = 300;
const SHARES: u64 = 10;

fn acme() -> Symbol {
    "ACME".parse().unwrap()
}

fn name(number: usize) -> Name {
    format!("trader-{number}").parse().unwrap()
}

/// Tries a program on many schedules, in which behaviours may panic.
fn simulate(runs: u64, program: fn()) {
    Sim::new().workers(3).config(Config::new().runs(runs)).allow_faults(true).check(program);
}

/// An exchange with accounts that have cash and shares.
async fn funded(traders: usize) -> Exchange {
    let exchange = Exchange::open([acme()]);
    for number in 0..traders {
        fund(&exchange, number).await;
    }
    exchange
}

async fn fund(exchange: &Exchange, number: usize) {
    let name = name(number);
    exchange.open_account(name.clone()).await.unwrap();
    exchange.deposit(&name, None, CASH).await.unwrap();
    exchange.deposit(&name, Some(acme()), SHARES).await.unwrap();
}

fn order(side: Side, price: Option<u64>, quantity: u64) -> NewOrder {
    NewOrder { symbol: acme(), side, price, quantity, client_id: None }
}

/// An order that the simulator chooses. Most of them cross.
fn any_order() -> NewOrder {
    let side = if sim::choose(2) == 0 { Side::Buy } else { Side::Sell };
    let price = (sim::choose(6) > 0).then(|| 9 + sim::choose(3));
    order(side, price, 1 + sim::choose(4))
}

/// Places orders, and cancels some of them at once. Returns those that were settled.
async fn trade(exchange: Exchange, number: usize, orders: usize) -> Vec<Execution> {
    let mut settled = Vec::new();
    for _ in 0..orders {
        match exchange.place(&name(number), any_order()).await {
            Ok(execution) => settled.push(execution),
            Err(Error::Restarted(_)) => {}
            Err(other) => assert!(other.code().starts_with("insufficient"), "{other}"),
        }
        if let Some(last) = settled.last().filter(|_| sim::choose(4) == 0) {
            // It may be filled.
            let _ = exchange.cancel(&name(number), last.order.id).await;
        }
    }
    settled
}

fn break_book(exchange: &Exchange) {
    when(&exchange.0.markets[&acme()].book, |_| panic!("the book fails"));
}

/// Trades never pass over an order that came first: one with a better price or, at the same price,
/// an earlier one.
fn assert_price_time_priority(orders: &BTreeMap<OrderId, Order>, trades: &[Trade]) {
    let mut filled = BTreeMap::<OrderId, u64>::new();
    for trade in trades {
        let (taker, maker) = (&orders[&trade.taker], &orders[&trade.maker]);
        assert_eq!(maker.price, Some(trade.price), "the price is the maker's");
        assert!(taker.accepts(trade.price) && maker.side == taker.side.opposite());
        let passed = orders.values().find(|other| {
            let filled = filled.get(&other.id).copied().unwrap_or(0);
            let was_there =
                other.id < trade.taker && matches!(other.status, Status::Open | Status::Filled);
            other.side == maker.side
                && was_there
                && comes_before(other, maker)
                && filled < other.quantity
        });
        assert_eq!(passed, None, "passed over by {trade:?}");
        *filled.entry(trade.maker).or_default() += trade.quantity;
        *filled.entry(trade.taker).or_default() += trade.quantity;
    }
    for order in orders.values() {
        assert_eq!(filled.get(&order.id).copied().unwrap_or(0), order.filled);
    }
}

fn comes_before(one: &Order, other: &Order) -> bool {
    let (Some(price), Some(other_price)) = (one.price, other.price) else { return false };
    match one.side {
        Side::Buy => (other_price, one.id) < (price, other.id),
        Side::Sell => (price, one.id) < (other_price, other.id),
    }
}

/// All orders that were settled as they are now, and all trades in their order: a book settles by
/// number.
async fn outcome(
    exchange: &Exchange,
    settled: Vec<Vec<Execution>>,
) -> (BTreeMap<OrderId, Order>, Vec<Trade>) {
    let (mut orders, mut executions) = (BTreeMap::new(), BTreeMap::new());
    for (number, settled) in settled.into_iter().enumerate() {
        for execution in settled {
            let id = execution.order.id;
            orders.insert(id, exchange.order(&name(number), id).await.unwrap());
            executions.insert(id, execution.trades);
        }
    }
    (orders, executions.into_values().flatten().collect())
}

#[test]
fn everything_that_must_hold_holds_on_every_schedule() {
    simulate(150, || {
        let main = async {
            let exchange = funded(3).await;
            let traders = [0, 1, 2].map(|n| spawn_future(trade(exchange.clone(), n, 3)));
            // A fourth comes while the others trade.
            let late = exchange.clone();
            let late = spawn_future(async move {
                fund(&late, 3).await;
                trade(late, 3, 2).await
            });
            for _ in 0..3 {
                if sim::choose(2) == 0 {
                    break_book(&exchange);
                }
                let snapshot = exchange.snapshot().await.unwrap();
                snapshot.check().unwrap();
                let Totals { cash, shares, .. } = snapshot.totals();
                let paid_in = [3 * CASH, 4 * CASH].map(u128::from);
                assert!(paid_in.contains(&cash), "{cash}");
                assert!([30, 40].contains(&shares[&acme()]), "{shares:?}");
            }
            let mut settled = Vec::new();
            for trader in traders {
                settled.push(trader.await.unwrap());
            }
            settled.push(late.await.unwrap());
            let snapshot = exchange.snapshot().await.unwrap();
            snapshot.check().unwrap();
            assert_eq!(snapshot.totals().cash, u128::from(4 * CASH));
            let (orders, trades) = outcome(&exchange, settled).await;
            assert_price_time_priority(&orders, &trades);
        };
        spawn_future(main).wait().expect("nothing in it panics");
    });
}

#[test]
fn a_picture_has_all_accounts_even_one_that_is_opened_meanwhile() {
    simulate(100, || {
        let main = async {
            let exchange = funded(1).await;
            let first = exchange.find(&name(0)).await.unwrap();
            let pictures = [(); 2].map(|()| {
                let exchange = exchange.clone();
                spawn_future(async move { exchange.snapshot().await.unwrap() })
            });
            when((&exchange.0.accounts, &first), |(accounts, first)| {
                let mut heir = Account::new(name(1));
                first.withdraw(&None, 100).unwrap();
                heir.deposit(&None, 100);
                accounts.add(heir).unwrap();
            });
            for picture in pictures {
                assert_eq!(picture.await.unwrap().totals().cash, u128::from(CASH));
            }
        };
        spawn_future(main).wait().expect("nothing in it panics");
    });
}

#[test]
fn a_book_that_fails_comes_back_with_its_orders() {
    simulate(60, || {
        let main = async {
            let exchange = funded(2).await;
            for price in [11, 10] {
                let sell = order(Side::Sell, Some(price), 2);
                exchange.place(&name(0), sell).await.unwrap();
            }
            let before = exchange.depth(&acme(), 9).await.unwrap();
            break_book(&exchange);
            assert_eq!(exchange.depth(&acme(), 9).await.unwrap(), before);
            let bought = exchange.place(&name(1), order(Side::Buy, Some(11), 3)).await.unwrap();
            let prices: Vec<_> = bought.trades.iter().map(|trade| trade.price).collect();
            assert_eq!(prices, [10, 11]);
        };
        spawn_future(main).wait().expect("nothing in it panics");
    });
}

#[test]
fn a_frozen_account_stops_no_other() {
    simulate(60, || {
        let main = async {
            let exchange = funded(3).await;
            for number in [0, 1] {
                let sell = order(Side::Sell, Some(10), 2);
                exchange.place(&name(number), sell).await.unwrap();
            }
            when(&exchange.find(&name(0)).await.unwrap(), |_| panic!("an account fails"));
            if sim::choose(2) == 0 {
                break_book(&exchange);
            }
            let bought = loop {
                match exchange.place(&name(2), order(Side::Buy, Some(10), 3)).await {
                    Err(Error::Restarted(_)) => {}
                    placed => break placed.unwrap(),
                }
            };
            assert_eq!((bought.order.filled, bought.trades[0].maker), (2, 2));
            let frozen = exchange.place(&name(0), order(Side::Sell, Some(10), 1)).await;
            assert_eq!(frozen.unwrap_err(), Error::Frozen(name(0)));
            let snapshot = exchange.snapshot().await.unwrap();
            snapshot.check().unwrap();
            assert_eq!((snapshot.frozen.len(), snapshot.totals().cash), (1, 900));
        };
        spawn_future(main).wait().expect("nothing in it panics");
    });
}

#[test]
fn a_slow_reader_misses_updates_and_is_told_how_many() {
    simulate(20, || {
        let exchange = spawn_future(funded(2)).wait().unwrap();
        let mut reader = exchange.updates(&acme()).unwrap();
        let main = {
            let exchange = exchange.clone();
            async move {
                for _ in 0..feed::BUFFER {
                    exchange.place(&name(0), order(Side::Sell, Some(10), 1)).await.unwrap();
                    exchange.place(&name(1), order(Side::Buy, Some(10), 1)).await.unwrap();
                    exchange.withdraw(&name(1), Some(acme()), 1).await.unwrap();
                    exchange.deposit(&name(0), Some(acme()), 1).await.unwrap();
                    exchange.withdraw(&name(0), None, 10).await.unwrap();
                    exchange.deposit(&name(1), None, 10).await.unwrap();
                }
                exchange
            }
        };
        // The first question opens the stream.
        let first = sim::thread(move || {
            let first = reader.wait_next();
            (first, reader)
        });
        let exchange = spawn_future(main).wait().unwrap();
        let (first, mut reader) = first.wait().unwrap();
        let (mut last, mut missed) = (first.unwrap().number, 0);
        // The first update is of an empty book. Each pair of orders is a trade, and changes the
        // best price twice: more than the reader has room for.
        while last < 1 + 3 * feed::BUFFER as u64 {
            let update = reader.wait_next().unwrap();
            assert_eq!(update.number, last + update.missed + 1);
            (last, missed) = (update.number, missed + update.missed);
        }
        assert!(missed > 0);
        exchange.end_updates();
        assert_eq!(reader.wait_next(), None);
    });
}

#[test]
fn a_reader_that_leaves_is_forgotten() {
    simulate(20, || {
        let exchange = spawn_future(funded(2)).wait().unwrap();
        let mut readers = [(); 2].map(|()| exchange.updates(&acme()).unwrap());
        let placing = {
            let exchange = exchange.clone();
            async move { exchange.place(&name(0), order(Side::Sell, Some(10), 1)).await.is_ok() }
        };
        assert!(spawn_future(placing).wait().unwrap());
        for reader in &mut readers {
            assert!(reader.wait_next().is_some());
        }
        let [stays, leaves] = readers;
        drop(leaves);
        let feed = &exchange.0.markets[&acme()].feed;
        assert_eq!(call(feed, |feed| feed.readers()).wait(), Ok(1));
        drop(stays);
        assert_eq!(call(feed, |feed| feed.readers()).wait(), Ok(0));
    });
}
