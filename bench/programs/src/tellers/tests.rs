//! Order and atomicity: a program's balances must be those of some order of all transfers that
//! keeps each teller's.

use std::collections::HashSet;
use std::sync::mpsc;
use std::time::Duration;

use coact::prelude::*;

use super::{Audit, Size, Transfer};
use crate::{actors, behaviours};

/// Few accounts with little on them, so that the order decides which transfers are refused.
const SMALL: Size = Size { accounts: 3, transfers: 5, tellers: 2, start: 0, work: Duration::ZERO };

/// The balances after each order that keeps those of the tellers.
fn reachable(balances: &[i64], tellers: &[Vec<Transfer>]) -> HashSet<Vec<i64>> {
    let mut all = HashSet::new();
    for (teller, transfers) in tellers.iter().enumerate() {
        let Some((&Transfer { from, to, amount }, later)) = transfers.split_first() else {
            continue;
        };
        let (mut balances, mut tellers) = (balances.to_vec(), tellers.to_vec());
        if balances[from] >= amount {
            balances[from] -= amount;
            balances[to] += amount;
        }
        tellers[teller] = later.to_vec();
        all.extend(reachable(&balances, &tellers));
    }
    if all.is_empty() { HashSet::from([balances.to_vec()]) } else { all }
}

fn tellers(size: Size) -> Vec<Vec<Transfer>> {
    (0..size.tellers).map(|teller| size.transfers_of(teller).collect()).collect()
}

fn each_size() -> impl Iterator<Item = Size> {
    (0..60).map(|step| Size { start: 100 + 25 * step, ..SMALL })
}

fn balances(runtime: &Runtime, size: Size, start: fn(Size, Audit)) -> Vec<i64> {
    let (tell, told) = mpsc::channel();
    let audit = move |balances| tell.send(balances).expect("the test waits");
    runtime.run(|| when(Cown::new(()), move |_| start(size, Box::new(audit))));
    told.recv().expect("the audit is made")
}

fn assert_order(start: fn(Size, Audit)) {
    let runtime = Runtime::builder().workers(2).build().expect("a runtime starts");
    for size in each_size() {
        let allowed = reachable(&vec![size.start; size.accounts as usize], &tellers(size));
        for _ in 0..5 {
            let found = balances(&runtime, size, start);
            assert!(allowed.contains(&found), "start {}: {found:?}", size.start);
        }
    }
}

#[test]
fn behaviours_keep_the_order_of_each_teller() {
    assert_order(behaviours::tellers::start);
}

#[test]
fn the_protocol_keeps_the_order_of_each_teller() {
    assert_order(actors::tellers::start);
}

#[test]
fn a_teller_that_turns_its_order_round_would_be_found() {
    let found = each_size().filter(|&size| {
        let start = vec![size.start; size.accounts as usize];
        let mut turned = tellers(size);
        turned[0].reverse();
        !reachable(&start, &turned).is_subset(&reachable(&start, &tellers(size)))
    });
    assert!(found.count() > 10);
}

#[test]
fn transfers_are_drawn_as_in_every_language() {
    let size = Size { accounts: 1_000, ..SMALL };
    // By hand: s = 1, then s = (s·1309 + 13849) mod 65536, and so on.
    let Transfer { from, to, amount } = size.transfers_of(0).next().expect("there are some");
    assert_eq!((from, to, amount), (158, 799, 876));
}
