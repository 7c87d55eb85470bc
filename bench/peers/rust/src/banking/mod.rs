//! Transfers that check both accounts, by tellers each of whom keeps an order; without work, and with some.

mod mutex;
mod tokio;

use std::time::Duration;

use coact_bench_workloads::Given;
use coact_bench_workloads::Way;
use coact_bench_workloads::random::{R16, busy};

/// Who has what, and who moves it.
#[derive(Clone, Copy)]
pub struct Size {
    accounts: u64,
    transfers: u64,
    tellers: u64,
    start: u64,
    work: Duration,
}

impl Size {
    fn reasonable(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            accounts: given.number("accounts")?,
            transfers: given.number("transfers")?,
            tellers: given.number("tellers")?,
            start: given.number("start")?,
            work: Duration::ZERO,
        })
    }

    fn busy(given: &Given) -> anyhow::Result<Size> {
        let work = Duration::from_micros(given.number("work")?);
        Ok(Size { work, ..Size::reasonable(given)? })
    }

    /// The transfers of a teller, in their order.
    fn transfers_of(self, teller: u64) -> impl Iterator<Item = Transfer> + Send + 'static {
        let (accounts, mut random) = (self.accounts as u32, R16::new(teller as u32 + 1));
        (0..self.transfers / self.tellers).map(move |_| {
            let (from, to) = (random.below(accounts), random.below(accounts));
            let to = if to == from { (to + 1) % accounts } else { to };
            let amount = u64::from(random.below(1_000));
            Transfer { from: from as usize, to: to as usize, amount }
        })
    }

    fn open(self) -> Account {
        Account { balance: self.start, closed: false }
    }

    /// A transfer between accounts that nobody else uses meanwhile.
    fn transfer(self, from: &mut Account, to: &mut Account, amount: u64) {
        busy(self.work);
        if !from.closed && !to.closed && from.balance >= amount {
            from.balance -= amount;
            to.balance += amount;
        }
    }
}

/// An order to move money.
#[derive(Clone, Copy)]
struct Transfer {
    from: usize,
    to: usize,
    amount: u64,
}

#[derive(Clone, Copy)]
struct Account {
    balance: u64,
    closed: bool,
}

type StdMutex = std::sync::Mutex<Account>;

type ParkingMutex = parking_lot::Mutex<Account>;

const REASONABLE: &[&str] = &["reasonable-banking"];

const BUSY: &[&str] = &["busy-banking"];

const STD: &str = "two ordered std mutexes; the tellers dealt to as many threads as workers";

const PARKING: &str =
    "two ordered parking_lot mutexes; tellers dealt to as many threads as workers";

const TOKIO: &str = "two ordered tokio mutexes; a task a teller";

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(REASONABLE, "mutex", STD, |given| {
        Ok(mutex::run::<StdMutex>(given.workers()?, Size::reasonable(given)?))
    }),
    Way::new(REASONABLE, "mutex-parking", PARKING, |given| {
        Ok(mutex::run::<ParkingMutex>(given.workers()?, Size::reasonable(given)?))
    }),
    Way::new(REASONABLE, "mutex-tokio", TOKIO, |given| tokio::run(given, Size::reasonable(given)?)),
    Way::new(BUSY, "mutex", STD, |given| {
        Ok(mutex::run::<StdMutex>(given.workers()?, Size::busy(given)?))
    }),
    Way::new(BUSY, "mutex-parking", PARKING, |given| {
        Ok(mutex::run::<ParkingMutex>(given.workers()?, Size::busy(given)?))
    }),
    Way::new(BUSY, "mutex-tokio", TOKIO, |given| tokio::run(given, Size::busy(given)?)),
];
