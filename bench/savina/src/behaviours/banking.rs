//! An account is a cown, a transaction a behaviour over two of them.

use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::work::transactions::{Draw, draws};

pub fn start(accounts: u64, transactions: u64, done: Finish) {
    let accounts: Vec<_> = (0..accounts).map(|_| Cown::new(0_i64)).collect();
    for Draw { from, to, amount } in draws(accounts.len() as u64, transactions) {
        when((&accounts[from], &accounts[to]), move |(from, to)| {
            *from -= amount;
            *to += amount;
        });
    }
    // It stands behind all transactions in the accounts' order.
    when(&accounts[..], move |accounts| {
        let weighted = accounts.iter().zip(1..).map(|(balance, place)| place * *balance);
        done.part(weighted.sum::<i64>() as u64);
    });
}
