//! What an entity takes of memory: its own part, without the store's.

use anyhow::ensure;
use coact::durable::{Durable, Journal};
use coact::prelude::*;
use coact_sqlite::SqliteStore;

use crate::account::Account;
use crate::counter::Counter;
use crate::measured::{Begun, Measured};
use crate::setup::Setup;
use crate::window;

type Plain = Counter<0>;

/// How many there are.
const ENTITIES: u64 = 100_000;

/// Asks for an entity by its key, and has it recovered.
fn recover(journal: &Journal, number: u64) -> (Addr<Durable<Plain>>, Promise<u64>) {
    let one = journal.entity::<Plain>(number.to_string());
    let sum = call(&one, |one| one.sum);
    (one, sum)
}

/// With an address that the program keeps.
pub fn with_address(setup: &Setup) -> anyhow::Result<Measured> {
    let journal = Journal::builder(SqliteStore::open(setup.file("memory.db"))?).most_active(0);
    let journal = journal.build();
    let count = setup.scaled(ENTITIES);
    let mut kept = Vec::with_capacity(count as usize);
    let begun = Begun::now()?;
    window::run(
        count,
        256,
        |number| {
            let (one, sum) = recover(&journal, number);
            kept.push(one);
            sum
        },
        |sum| Ok(sum.wait().map(drop)?),
    )?;
    let measured = begun.end_with_memory(count)?;
    ensure!(kept.len() as u64 == count, "all addresses are kept");
    Ok(measured)
}

/// Without an address of the program; the journal keeps it active.
pub fn idle(setup: &Setup) -> anyhow::Result<Measured> {
    without_address(setup, usize::MAX)
}

/// Without an address, and without an actor.
pub fn passive(setup: &Setup) -> anyhow::Result<Measured> {
    without_address(setup, 0)
}

fn without_address(setup: &Setup, most_active: usize) -> anyhow::Result<Measured> {
    let store = SqliteStore::open(setup.file("memory.db"))?;
    let journal = Journal::builder(store)
        .most_active(most_active)
        .passive_after(std::time::Duration::from_secs(3600))
        .build();
    let count = setup.scaled(ENTITIES);
    let begun = Begun::now()?;
    window::run(count, 256, |number| recover(&journal, number).1, |sum| Ok(sum.wait().map(drop)?))?;
    // (Actors whose last address is gone end by themselves.)
    coact::runtime::Runtime::global().wait_idle();
    begun.end_with_memory(count)
}

/// A timer that is set, far in the future, a hundred each entity.
pub fn timers(setup: &Setup) -> anyhow::Result<Measured> {
    use std::time::Duration;

    use crate::account::Deposit;

    let journal = Journal::builder(SqliteStore::open(setup.file("memory.db"))?)
        .receives::<Account, Deposit>()
        .build();
    let entities = setup.scaled(ENTITIES / 100);
    let all: Vec<_> = (0..entities).map(|key| journal.entity::<Account>(key.to_string())).collect();
    let recovered: Vec<_> = all.iter().map(|one| call(one, |_| ())).collect();
    recovered.into_iter().try_for_each(Promise::wait)?;
    let begun = Begun::now()?;
    window::run(
        100 * entities,
        setup.in_flight,
        |number| {
            let name = (number / entities).to_string();
            call(&all[(number % entities) as usize], move |account| {
                let due = account.now() + Duration::from_secs(1_000_000 + number);
                account.set_timer(&name, due, Deposit(1));
            })
        },
        |set| Ok(set.wait()?),
    )?;
    begun.end_with_memory(100 * entities)
}
