//! Durable actors: an account stores its events, and a transfer between two is stored as one step,
//! or not at all.
//!
//! A store in memory stands for a file here, so that "the next process" can be seen at once; with
//! the crate `coact-sqlite`, it is `SqliteStore::open("bank.db")?`.

use coact::durable::{Decide, Durable, EntityId, EventSourced, Journal, MemoryStore, stored};
use coact::prelude::*;

#[derive(Default)]
struct Account {
    cents: u64,
}

/// What can happen to an account. The numbers are what is stored: they never change, the names may.
#[stored(name = "bank.account-event")]
enum AccountEvent {
    #[n(0)]
    Deposited {
        #[n(0)]
        cents: u64,
    },
    #[n(1)]
    Withdrawn {
        #[n(0)]
        cents: u64,
    },
}

impl EventSourced for Account {
    const KIND: &'static str = "bank.account";
    type Event = AccountEvent;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, event: &AccountEvent) {
        match event {
            AccountEvent::Deposited { cents } => self.cents += cents,
            AccountEvent::Withdrawn { cents } => self.cents -= cents,
        }
    }
}

#[derive(Message)]
#[message(reply = u64)]
struct Deposit(u64);

impl Decide<Deposit> for Account {
    fn decide(account: &mut Durable<Self>, Deposit(cents): Deposit) -> u64 {
        account.persist(AccountEvent::Deposited { cents });
        account.cents
    }
}

/// Moves money, if there is enough of it.
fn transfer(
    from: &Addr<Durable<Account>>,
    to: &Addr<Durable<Account>>,
    cents: u64,
) -> Promise<bool> {
    call((from, to), move |(from, to)| {
        if from.cents < cents {
            return false;
        }
        from.persist(AccountEvent::Withdrawn { cents });
        to.persist(AccountEvent::Deposited { cents });
        true
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = MemoryStore::new();

    let journal = Journal::new(store.clone());
    let (alice, bob) = (journal.entity::<Account>("alice"), journal.entity::<Account>("bob"));
    println!("alice has {}", alice.ask(Deposit(100)).wait()?);
    println!("30 to bob: {}", transfer(&alice, &bob, 30).wait()?);
    println!("90 to bob: {}", transfer(&alice, &bob, 90).wait()?);
    drop((alice, bob, journal));

    // The next process.
    let journal = Journal::new(store);
    let (alice, bob) = (journal.entity::<Account>("alice"), journal.entity::<Account>("bob"));
    let both = call((alice.read(), bob.read()), |(alice, bob)| (alice.cents, bob.cents)).wait()?;
    println!("after a restart they have {both:?}");
    assert_eq!(both, (70, 30));
    Ok(())
}
