//! The same rows by the bare library: one thread, and nothing but what has to be written.
//!
//! It reads nothing back and refuses nothing: each commit's events, the last number and hash of its
//! members, its identity, and the counter at the end of the transaction, in the store's own tables.

use std::path::Path;

use anyhow::{Context, ensure};
use coact::durable::store::{CommitId, EventHash, wait};
use coact::durable::{EntityId, Event, Seq, Store};
use coact_sqlite::SqliteStore;
use rusqlite::{Connection, TransactionBehavior, params};

/// A file that is written without a store.
pub struct Bare {
    connection: Connection,
    entities: Vec<Entity>,
    position: i64,
}

struct Entity {
    row: i64,
    last: Seq,
    hash: EventHash,
}

impl Bare {
    /// Has a store make a file with these entities, and opens it in the store's way.
    pub fn create(path: &Path, ids: &[EntityId]) -> anyhow::Result<Bare> {
        let store = SqliteStore::open(path)?;
        for id in ids {
            wait(|done| store.claim(id.clone(), done))?;
        }
        drop(store);
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        ensure!(mode == "wal", "the file has the journal mode {mode}");
        connection.set_prepared_statement_cache_capacity(32);
        let mut select =
            connection.prepare("SELECT id FROM entity WHERE kind = ?1 AND key = ?2")?;
        let entities = ids.iter().map(|id| {
            let row = select
                .query_row([id.kind().as_bytes(), id.key().as_bytes()], |row| row.get(0))
                .with_context(|| format!("`{id}` is not there"))?;
            Ok(Entity { row, last: Seq::ZERO, hash: EventHash::of(id) })
        });
        let entities = entities.collect::<anyhow::Result<_>>()?;
        drop(select);
        Ok(Bare { connection, entities, position: 0 })
    }

    /// Writes commits in one transaction, each with events of some entities.
    pub fn write(&mut self, commits: &[Vec<(usize, Event)>]) -> rusqlite::Result<()> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut event = transaction.prepare_cached(
                "INSERT INTO event (entity, seq, position, name, version, hash, payload)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            let mut entity = transaction
                .prepare_cached("UPDATE entity SET last = ?2, hash = ?3 WHERE id = ?1")?;
            let mut decision = transaction
                .prepare_cached("INSERT INTO decision (id, position) VALUES (?1, ?2)")?;
            for commit in commits {
                self.position += 1;
                for (member, what) in commit {
                    let known = &mut self.entities[*member];
                    known.last = known.last.next();
                    known.hash = known.hash.with(known.last, what);
                    let row = known.row;
                    let last = known.last.get().cast_signed();
                    let hash = known.hash.get().cast_signed();
                    event.execute(params![
                        row,
                        last,
                        self.position,
                        what.name.as_bytes(),
                        what.version,
                        hash,
                        &*what.payload,
                    ])?;
                    entity.execute(params![row, last, hash])?;
                }
                let id = CommitId::unique().get().to_be_bytes();
                decision.execute(params![id, self.position])?;
            }
            transaction
                .prepare_cached("UPDATE counter SET position = ?1")?
                .execute([self.position])?;
        }
        transaction.commit()
    }
}
