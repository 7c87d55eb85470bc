//! Accounts, and transfers between two of them.

use std::sync::{Condvar, Mutex, PoisonError};

use coact::durable::{Decide, Durable, EntityId, EventSourced, stored};
use coact::prelude::*;

/// What an account is now.
#[derive(Default)]
pub struct Account {
    /// It may be negative, so that no transfer is refused.
    pub cents: i64,
}

/// What can happen to an account.
#[stored(name = "bench.account-event")]
pub enum AccountEvent {
    /// A transfer from it.
    #[n(0)]
    Sent {
        /// How much.
        #[n(0)]
        cents: i64,
        /// To which account.
        #[n(1)]
        to: u64,
    },
    /// A transfer to it.
    #[n(1)]
    Received {
        /// How much.
        #[n(0)]
        cents: i64,
    },
}

impl EventSourced for Account {
    const KIND: &'static str = "bench.account";
    type Event = AccountEvent;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, event: &AccountEvent) {
        match event {
            AccountEvent::Sent { cents, .. } => self.cents -= cents,
            AccountEvent::Received { cents } => self.cents += cents,
        }
    }
}

/// A transfer that is delivered as a message.
#[stored(name = "bench.deposit")]
#[derive(Message)]
pub struct Deposit(#[n(0)] pub i64);

impl Decide<Deposit> for Account {
    fn decide(account: &mut Durable<Self>, Deposit(cents): Deposit) {
        account.persist(AccountEvent::Received { cents });
        account.on_commit(|| ARRIVALS.add());
    }
}

/// How many deposits have arrived in this process.
pub static ARRIVALS: Arrivals = Arrivals { count: Mutex::new(0), is_more: Condvar::new() };

/// A count that can be waited for.
pub struct Arrivals {
    count: Mutex<u64>,
    is_more: Condvar,
}

impl Arrivals {
    fn add(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.is_more.notify_one();
    }

    /// Waits until there are as many as that.
    pub fn wait_for(&self, most: u64) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let reached = self.is_more.wait_while(count, |count| *count < most);
        drop(reached.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Sends an amount to another account by a message, which is stored until it has arrived.
#[derive(Message)]
pub struct Send {
    /// The key of the other one.
    pub to: u64,
    /// How much.
    pub cents: i64,
}

impl Decide<Send> for Account {
    fn decide(account: &mut Durable<Self>, Send { to, cents }: Send) {
        account.persist(AccountEvent::Sent { cents, to });
        account.deliver_to::<Account, _>(to.to_string(), Deposit(cents));
    }
}

/// Two accounts and an amount, which look random. The peers choose the same ones.
pub fn choose(number: u64, accounts: u64) -> (u64, u64, i64) {
    let mixed = (number ^ 0x5DEE_CE66).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let from = (mixed >> 40) % accounts;
    let to = (from + 1 + (mixed >> 20) % (accounts - 1)) % accounts;
    (from, to, 1 + ((mixed >> 5) % 500).cast_signed())
}
