//! Accounts, as most tests use them.

use coact::durable::{Decide, Durable, EntityId, EventSourced, Journal, Snapshots, stored};
use coact::prelude::*;

/// An account that knows each change of its balance.
#[stored(name = "bank.account")]
#[derive(Default, Clone, Debug, PartialEq)]
pub struct Account {
    #[n(0)]
    pub balance: i64,
    #[n(1)]
    pub changes: Vec<i64>,
}

#[stored(name = "bank.changed")]
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    #[n(0)]
    pub by: i64,
}

/// The amount at which `apply` panics.
pub const UNLUCKY: i64 = 1313;

impl EventSourced for Account {
    const KIND: &'static str = "bank.account";
    type Event = Changed;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, Changed { by }: &Changed) {
        assert!(*by != UNLUCKY, "it is not my day");
        self.balance += by;
        self.changes.push(*by);
    }

    fn snapshots() -> Option<Snapshots<Self>> {
        Some(Snapshots::every(5))
    }
}

#[derive(Message)]
#[message(reply = i64)]
pub struct Deposit(pub i64);

impl Decide<Deposit> for Account {
    fn decide(account: &mut Durable<Self>, Deposit(by): Deposit) -> i64 {
        account.persist(Changed { by });
        account.balance
    }
}

#[derive(Message)]
#[message(reply = Result<i64, &'static str>)]
pub struct Withdraw(pub i64);

impl Decide<Withdraw> for Account {
    fn decide(account: &mut Durable<Self>, Withdraw(by): Withdraw) -> Result<i64, &'static str> {
        if account.balance < by {
            return Err("overdrawn");
        }
        account.persist(Changed { by: -by });
        Ok(account.balance)
    }
}

#[derive(Message)]
#[message(reply = i64)]
pub struct Balance;

impl Decide<Balance> for Account {
    fn decide(account: &mut Durable<Self>, _: Balance) -> i64 {
        account.balance
    }
}

pub type Addresses = Vec<Addr<Durable<Account>>>;

pub fn account(journal: &Journal, key: &str) -> Addr<Durable<Account>> {
    journal.entity(key)
}

/// The account in the store, as a new owner finds it. The owner before is fenced.
pub fn found(store: &(impl coact::durable::Store + Clone), key: &str) -> Account {
    let account = account(&Journal::new(store.clone()), key);
    call(&account, |account| (**account).clone()).wait().unwrap()
}
