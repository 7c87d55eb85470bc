//! How many commits a second a store takes, each with one event of 128 bytes: one after the other,
//! each waited for; and submitted at once, so that the writer makes transactions of all that waits.
//!
//! `cargo run --release -p coact-sqlite --example throughput [FOLDER]` (by default the one for
//! temporary files, which may be in memory)

use std::error::Error;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use coact_persist::{Commit, EntityId, Event, Store, StoreOutcome, wait};
use coact_sqlite::SqliteStore;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    for entities in [1, 100, 10_000] {
        let path = folder.path().join(format!("{entities}.db"));
        let store = SqliteStore::open(&path)?;
        report(entities, "waited for", 500, one_by_one(&store, entities, 500)?);
        report(entities, "at once", 50_000, at_once(&store, entities, 50_000)?);
    }
    Ok(())
}

fn report(entities: usize, how: &str, commits: usize, took: Duration) {
    let each = took / u32::try_from(commits).expect("there are few");
    let rate = commits as f64 / took.as_secs_f64();
    println!("{entities:6} entities, {how:10}: {rate:8.0} commits a second, {each:?} each");
}

/// The next commit of each entity, as its one owner.
struct Owned {
    id: EntityId,
    claim: coact_persist::Claim,
}

impl Owned {
    fn claim(store: &SqliteStore, entities: usize) -> Result<Vec<Owned>, Box<dyn Error>> {
        let claims = (0..entities).map(|n| {
            let id = EntityId::new("counter", n.to_string());
            let claim = wait(|done| store.claim(id.clone(), done))?;
            Ok(Owned { id, claim })
        });
        claims.collect()
    }

    fn next(&mut self) -> Commit {
        let mut commit = Commit::new();
        let member = commit.member(self.id.clone(), self.claim.epoch, self.claim.last);
        self.claim.hash = member.event(Event::new("counted", 1, [7; 128]), self.claim.hash);
        self.claim.last = self.claim.last.next();
        commit
    }
}

fn one_by_one(
    store: &SqliteStore,
    entities: usize,
    commits: usize,
) -> Result<Duration, Box<dyn Error>> {
    let mut owned = Owned::claim(store, entities.min(100))?;
    let begun = Instant::now();
    for n in 0..commits {
        let at = n % owned.len();
        let commit = owned[at].next();
        let outcome = wait(|done| store.commit(commit, done));
        assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
    }
    Ok(begun.elapsed())
}

fn at_once(
    store: &SqliteStore,
    entities: usize,
    commits: usize,
) -> Result<Duration, Box<dyn Error>> {
    let mut owned = Owned::claim(store, entities)?;
    let (tell, told) = channel();
    let begun = Instant::now();
    for n in 0..commits {
        let at = n % owned.len();
        let tell = tell.clone();
        store.commit(owned[at].next(), Box::new(move |outcome| drop(tell.send(outcome))));
    }
    for outcome in told.iter().take(commits) {
        assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
    }
    Ok(begun.elapsed())
}
