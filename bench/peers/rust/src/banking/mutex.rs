//! An account is a mutex; the lower number is locked first.

use coact_bench_workloads::Measured;
use coact_bench_workloads::threads;

use super::common::{Account, Size, Transfer};
use crate::lock::Lock;

/// A thread does the transfers of its tellers, one teller after the other.
pub fn run<L: Lock<Account>>(workers: usize, size: Size) -> Measured {
    let accounts: Vec<L> = (0..size.accounts).map(|_| L::new(size.open())).collect();
    let start = threads::run(workers as u64, |thread| {
        for teller in (thread..size.tellers).step_by(workers) {
            for Transfer { from, to, amount } in size.transfers_of(teller) {
                let mut less = accounts[from.min(to)].hold();
                let mut greater = accounts[from.max(to)].hold();
                if from < to {
                    size.transfer(&mut less, &mut greater, amount);
                } else {
                    size.transfer(&mut greater, &mut less, amount);
                }
            }
        }
    });
    let sum = accounts.iter().map(|account| account.hold().balance).sum();
    Measured::new(start.elapsed(), size.transfers, sum)
}
