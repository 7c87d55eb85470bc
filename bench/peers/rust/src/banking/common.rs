//! What all who do it have in common.

use std::time::Duration;

use coact_bench_workloads::Given;
use coact_bench_workloads::random::{R16, busy};

/// Who has what, and who moves it.
#[derive(Clone, Copy)]
pub struct Size {
    pub accounts: u64,
    pub transfers: u64,
    pub tellers: u64,
    pub start: u64,
    pub work: Duration,
}

impl Size {
    pub fn reasonable(given: &Given) -> anyhow::Result<Size> {
        Ok(Size {
            accounts: given.number("accounts")?,
            transfers: given.number("transfers")?,
            tellers: given.number("tellers")?,
            start: given.number("start")?,
            work: Duration::ZERO,
        })
    }

    pub fn busy(given: &Given) -> anyhow::Result<Size> {
        let work = Duration::from_micros(given.number("work")?);
        Ok(Size { work, ..Size::reasonable(given)? })
    }

    /// The transfers of a teller, in their order.
    pub fn transfers_of(self, teller: u64) -> impl Iterator<Item = Transfer> + Send + 'static {
        let (accounts, mut random) = (self.accounts as u32, R16::new(teller as u32 + 1));
        (0..self.transfers / self.tellers).map(move |_| {
            let (from, to) = (random.below(accounts), random.below(accounts));
            let to = if to == from { (to + 1) % accounts } else { to };
            let amount = u64::from(random.below(1_000));
            Transfer { from: from as usize, to: to as usize, amount }
        })
    }

    pub fn open(self) -> Account {
        Account { balance: self.start, closed: false }
    }

    /// A transfer between accounts that are not used otherwise meanwhile.
    pub fn transfer(self, from: &mut Account, to: &mut Account, amount: u64) {
        busy(self.work);
        if !from.closed && !to.closed && from.balance >= amount {
            from.balance -= amount;
            to.balance += amount;
        }
    }
}

/// An order to move money.
#[derive(Clone, Copy)]
pub struct Transfer {
    pub from: usize,
    pub to: usize,
    pub amount: u64,
}

#[derive(Clone, Copy)]
pub struct Account {
    pub balance: u64,
    pub closed: bool,
}
