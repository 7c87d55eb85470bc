//! Commands of counters, an event each; and the same rows by the bare library.

use std::sync::Arc;

use anyhow::{Context, ensure};
use coact::durable::store::write;
use coact::durable::{Durable, EntityId, EventSourced, Journal, MemoryStore, Store};
use coact::prelude::*;
use coact_postgres::PostgresStore;
use coact_sqlite::SqliteStore;

use crate::bare::Bare;
use crate::counter::{Count, Counted, Counter};
use crate::measured::{Begun, Measured};
use crate::server::{SCHEMA, Server};
use crate::setup::Setup;
use crate::stores::{OneByOne, Shared};
use crate::window;

type Plain = Counter<0>;

/// How many commands there are, if each waits for a flush of its own.
const SLOW: u64 = 2_000;

/// How many commands there are otherwise.
const FAST: u64 = 100_000;

/// To counters in a file, many at a time.
pub fn in_file(setup: &Setup, actors: u64) -> anyhow::Result<Measured> {
    in_store(setup, actors, (setup.scaled(FAST), setup.in_flight), |store| store)
}

/// The same, where each transaction has one commit.
pub fn ungrouped(setup: &Setup, actors: u64) -> anyhow::Result<Measured> {
    in_store(setup, actors, (setup.scaled(SLOW), setup.in_flight), OneByOne::new)
}

/// To one counter in a file, each when the one before has been answered.
pub fn one_at_a_time(setup: &Setup) -> anyhow::Result<Measured> {
    in_store(setup, 1, (setup.scaled(SLOW), 1), |store| store)
}

/// To counters in memory.
pub fn in_memory(setup: &Setup, actors: u64) -> anyhow::Result<Measured> {
    let journal = Journal::new(MemoryStore::new());
    commands(&journal, actors, (setup.scaled(FAST), setup.in_flight), || Ok(0))
}

/// To counters in a server's database, many at a time.
pub fn in_server(setup: &Setup, actors: u64) -> anyhow::Result<Measured> {
    in_database(setup, actors, (setup.scaled(FAST), setup.in_flight))
}

/// The same, where each counter has one command under way.
pub fn in_server_one_each(setup: &Setup, actors: u64) -> anyhow::Result<Measured> {
    in_database(setup, actors, (setup.scaled(FAST), actors))
}

/// To one counter in a server's database, each when the one before has been answered.
pub fn in_server_one_at_a_time(setup: &Setup) -> anyhow::Result<Measured> {
    in_database(setup, 1, (setup.scaled(SLOW), 1))
}

fn in_database(
    setup: &Setup,
    actors: u64,
    (count, at_once): (u64, u64),
) -> anyhow::Result<Measured> {
    let url = setup.postgres.as_ref().context("a server is named by --postgres")?;
    let server = Server::connect(url)?;
    server.clear()?;
    let journal = Journal::new(PostgresStore::builder(url).schema(SCHEMA).connect()?);
    commands(&journal, actors, (count, at_once), || server.transactions())
}

fn in_store<S: Store>(
    setup: &Setup,
    actors: u64,
    (count, at_once): (u64, u64),
    front: impl FnOnce(Shared) -> S,
) -> anyhow::Result<Measured> {
    let store = Shared(Arc::new(SqliteStore::open(setup.file("events.db"))?));
    let journal = Journal::new(front(store.clone()));
    let measured = commands(&journal, actors, (count, at_once), || Ok(store.0.transactions()))?;
    Ok(measured)
}

fn commands(
    journal: &Journal,
    actors: u64,
    (count, at_once): (u64, u64),
    transactions: impl Fn() -> anyhow::Result<u64>,
) -> anyhow::Result<Measured> {
    let all = counters(journal, actors)?;
    let before = transactions()?;
    let begun = Begun::now()?;
    window::run(
        count,
        at_once,
        |number| all[(number % actors) as usize].ask(Count(1)),
        |answer| Ok(answer.wait().map(drop)?),
    )?;
    let measured = begun.end(count)?;
    let written = transactions()? - before;
    let sum: u64 = all.iter().map(|one| call(one, |one| one.sum).wait()).sum::<Result<_, _>>()?;
    ensure!(sum == count, "{sum} were counted, and not {count}");
    Ok(Measured { transactions: (written > 0).then_some(written), ..measured })
}

/// Counters that have been recovered.
fn counters(journal: &Journal, actors: u64) -> anyhow::Result<Vec<Addr<Durable<Plain>>>> {
    let all: Vec<_> = (0..actors).map(|key| journal.entity::<Plain>(key.to_string())).collect();
    let recovered: Vec<_> = all.iter().map(|one| call(one, |one| one.sum)).collect();
    recovered.into_iter().try_for_each(|sum| sum.wait().map(drop))?;
    Ok(all)
}

/// As many rows as [`in_file`] writes, by the bare library.
pub fn bare(setup: &Setup, entities: u64) -> anyhow::Result<Measured> {
    bare_events(setup, entities, setup.scaled(FAST))
}

/// As many rows as [`one_at_a_time`] writes, by the bare library.
pub fn bare_one_at_a_time(setup: &Setup) -> anyhow::Result<Measured> {
    bare_events(setup, 1, setup.scaled(SLOW))
}

fn bare_events(setup: &Setup, entities: u64, count: u64) -> anyhow::Result<Measured> {
    let batch =
        setup.batch.context("the bare library is told how many commits to write at once")?;
    let ids: Vec<_> =
        (0..entities).map(|key| EntityId::new(Plain::KIND, key.to_string())).collect();
    let mut file = Bare::create(&setup.file("events.db"), &ids)?;
    let begun = Begun::now()?;
    let (mut number, mut transactions) = (0, 0);
    while number < count {
        let next = (number + batch).min(count);
        let commits = (number..next)
            .map(|number| Ok(vec![((number % entities) as usize, write(&Counted::by(1))?)]));
        file.write(&commits.collect::<anyhow::Result<Vec<_>>>()?)?;
        (number, transactions) = (next, transactions + 1);
    }
    Ok(Measured { transactions: Some(transactions), ..begun.end(count)? })
}
