//! How many commits a second a store takes, each with one event of 128 bytes, with some entities
//! that each have one commit under way; and the same rows by plain statements, each commit a
//! transaction of its own.
//!
//! `cargo run --release -p coact-postgres --example throughput
//! postgres://USER:PASSWORD@HOST/DATABASE` makes the schema `coact_throughput`, and drops it in the
//! end.

use std::error::Error;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use coact_persist::{Claim, Commit, EntityId, Event, Store, StoreOutcome, wait};
use coact_postgres::PostgresStore;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

const SCHEMA: &str = "coact_throughput";

/// How long each is measured.
const TIME: Duration = Duration::from_secs(3);

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("name the address of a database")?;
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let (client, connection) = runtime.block_on(tokio_postgres::connect(&url, NoTls))?;
    runtime.spawn(connection);
    let store = PostgresStore::builder(&url).schema(SCHEMA).connect()?;
    runtime.block_on(client.batch_execute(&format!("SET search_path = {SCHEMA}")))?;
    let plain = plainly(&runtime, &client)?;
    println!("plain statements, one transaction each: {plain:8.0} commits a second");
    for entities in [1, 16, 100, 1_000] {
        let before = syncs(&runtime, &client)?;
        let (commits, took) = in_flight(&store, entities)?;
        let [transactions, flushes] = [0, 1].map(|at| after(&before, at, syncs(&runtime, &client)));
        let rate = f64::from(commits) / took.as_secs_f64();
        let by = |count: f64| count * 1_000.0 / f64::from(commits);
        println!(
            "{entities:5} in flight: {rate:8.0} commits a second; for 1,000 commits {:5.0} transactions, {:5.0} flushes",
            by(transactions),
            by(flushes)
        );
    }
    drop(store);
    runtime.block_on(client.batch_execute(&format!("DROP SCHEMA {SCHEMA} CASCADE")))?;
    Ok(())
}

/// How many transactions have written, and how often the log was flushed. (In all of the server,
/// PostgreSQL 14 to 17.)
fn syncs(runtime: &Runtime, client: &Client) -> Result<[i64; 2], tokio_postgres::Error> {
    let row = runtime.block_on(
        client.query_one("SELECT txid_current(), (SELECT wal_sync FROM pg_stat_wal)", &[]),
    )?;
    Ok([row.get(0), row.get(1)])
}

fn after(before: &[i64; 2], at: usize, now: Result<[i64; 2], tokio_postgres::Error>) -> f64 {
    now.map_or(f64::NAN, |now| (now[at] - before[at]) as f64)
}

/// An entity, whose next commit is made as its one owner would.
struct Owned {
    id: EntityId,
    claim: Claim,
}

impl Owned {
    fn claim(store: &PostgresStore, key: String) -> Result<Self, Box<dyn Error>> {
        let id = EntityId::new("counter", key);
        let claim = wait(|done| store.claim(id.clone(), done))?;
        Ok(Self { id, claim })
    }

    fn next(&mut self) -> Commit {
        let mut commit = Commit::new();
        let member = commit.member(self.id.clone(), self.claim.epoch, self.claim.last);
        self.claim.hash = member.event(Event::new("counted", 1, [7; 128]), self.claim.hash);
        self.claim.last = self.claim.last.next();
        commit
    }
}

fn in_flight(store: &PostgresStore, entities: usize) -> Result<(u32, Duration), Box<dyn Error>> {
    let owned: Result<Vec<_>, _> =
        (0..entities).map(|n| Owned::claim(store, n.to_string())).collect();
    let mut owned = owned?;
    let (tell, told) = channel();
    let begun = Instant::now();
    let submit = |owned: &mut Owned, at: usize| {
        let tell = tell.clone();
        store.commit(owned.next(), Box::new(move |outcome| drop(tell.send((at, outcome)))));
    };
    owned.iter_mut().enumerate().for_each(|(at, owned)| submit(owned, at));
    let (mut commits, mut under_way) = (0, entities);
    while under_way > 0 {
        let (at, outcome) = told.recv()?;
        assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
        commits += 1;
        if begun.elapsed() < TIME {
            submit(&mut owned[at], at);
        } else {
            under_way -= 1;
        }
    }
    Ok((commits, begun.elapsed()))
}

/// The rows of a commit, statement by statement, in one transaction after the other.
fn plainly(runtime: &Runtime, client: &Client) -> Result<f64, Box<dyn Error>> {
    runtime.block_on(async {
        let lock =
            client.prepare("SELECT epoch, last FROM entity WHERE id = $1 FOR UPDATE").await?;
        let count = client.prepare("UPDATE counter SET last = last + 1 RETURNING last").await?;
        let write =
            client.prepare("INSERT INTO event VALUES ($1, $2, $3, 1, 'counted', 1, 0, $4)").await?;
        let moved = client.prepare("UPDATE entity SET last = $2, hash = 0 WHERE id = $1").await?;
        let decide = client.prepare("INSERT INTO decision (id, position) VALUES ($1, $2)").await?;
        client
            .execute(
                "INSERT INTO entity (kind, key, epoch, last, hash) VALUES (1, 'plain', 1, 0, 0)",
                &[],
            )
            .await?;
        let id: i64 = client.query_one("SELECT max(id) FROM entity", &[]).await?.get(0);
        let begun = Instant::now();
        let mut commits = 0_u32;
        while begun.elapsed() < TIME {
            client.batch_execute("BEGIN").await?;
            let last: i64 = client.query_one(&lock, &[&id]).await?.get::<_, i64>(1) + 1;
            let position: i64 = client.query_one(&count, &[]).await?.get(0);
            client.execute(&write, &[&id, &last, &position, &&[7_u8; 128][..]]).await?;
            client.execute(&moved, &[&id, &last]).await?;
            let decision = u128::from(commits).to_be_bytes();
            client.execute(&decide, &[&&decision[..], &position]).await?;
            client.batch_execute("COMMIT").await?;
            commits += 1;
        }
        Ok(f64::from(commits) / begun.elapsed().as_secs_f64())
    })
}
