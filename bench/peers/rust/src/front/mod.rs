//! Requests of tokio tasks, handled under two ordered locks. The accounts live as long as the
//! process, so no request needs a count of its own.

use coact_bench_workloads::Way;
use coact_bench_workloads::work::bank::{Account, Transfer, digest};
use coact_bench_workloads::work::front::{Size, drive, handle};
use coact_bench_workloads::{Given, Measured};

use crate::bank::tokio::lock_both;

const ALL: &[&str] = &["tokio-front", "tokio-front-skewed", "http-front"];

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(ALL, "mutex", "the task locks two ordered parking_lot mutexes", mutex),
    Way::new(ALL, "tokio", "the task locks two ordered tokio mutexes", tokio),
];

fn mutex(given: &Given) -> anyhow::Result<Measured> {
    use parking_lot::Mutex;

    let size = Size::of(given)?;
    let bank: &[Mutex<Account>] =
        (0..size.accounts).map(|_| Mutex::default()).collect::<Vec<_>>().leak();
    let measured =
        drive(given.workers()?, size, move |Transfer { from, to, amount }| async move {
            let low = bank[from.min(to)].lock();
            let high = bank[from.max(to)].lock();
            let (mut payer, mut receiver) = if from < to { (low, high) } else { (high, low) };
            handle(&mut payer, &mut receiver, amount)
        })?;
    Ok(Measured { result: digest(bank.iter().map(|account| *account.lock())), ..measured })
}

fn tokio(given: &Given) -> anyhow::Result<Measured> {
    use tokio::sync::Mutex;

    let size = Size::of(given)?;
    let bank: &[Mutex<Account>] =
        (0..size.accounts).map(|_| Mutex::default()).collect::<Vec<_>>().leak();
    let measured =
        drive(given.workers()?, size, move |Transfer { from, to, amount }| async move {
            let (mut payer, mut receiver) = lock_both(bank, from, to).await;
            handle(&mut payer, &mut receiver, amount)
        })?;
    let result = digest(bank.iter().map(|account| *account.blocking_lock()));
    Ok(Measured { result, ..measured })
}
