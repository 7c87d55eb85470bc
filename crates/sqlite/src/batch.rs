//! What is done in one transaction, and in one read.

use coact_persist::{
    Claim, Commit, CommitId, EntityId, Epoch, Event, EventHash, LogEntry, Outcome, Position,
    Refusal, Seq, Settled, Snapshot, StoredEvent,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

/// How many snapshots of an entity are kept.
const SNAPSHOTS: i64 = 2;

/// One transaction.
pub(crate) struct Batch<'c> {
    transaction: Transaction<'c>,
    /// That of the last commit.
    position: Position,
}

impl<'c> Batch<'c> {
    pub(crate) fn begin(connection: &'c mut Connection) -> rusqlite::Result<Self> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let position = transaction
            .prepare_cached("SELECT position FROM counter")?
            .query_row([], |row| number(row, 0))?;
        Ok(Self { transaction, position: Position::new(position) })
    }

    /// Does what comes before the end of the transaction.
    pub(crate) fn prepare(&self) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached("UPDATE counter SET position = ?1")?
            .execute([bits(self.position.get())])?;
        Ok(())
    }

    /// Ends the transaction. If that fails, it may have been committed, or not.
    pub(crate) fn commit_all(self) -> rusqlite::Result<()> {
        self.transaction.commit()
    }
}

/// An entity as it is stored.
struct Entity {
    id: i64,
    epoch: Epoch,
    last: Seq,
    hash: EventHash,
}

/// SQLite's integers have a sign; as bits they are the same.
fn bits(number: u64) -> i64 {
    number.cast_signed()
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

fn find(connection: &Connection, entity: &EntityId) -> rusqlite::Result<Option<Entity>> {
    let mut select = connection
        .prepare_cached("SELECT id, epoch, last, hash FROM entity WHERE kind = ?1 AND key = ?2")?;
    let keys = params![entity.kind().as_bytes(), entity.key().as_bytes()];
    let found = select.query_row(keys, |row| {
        Ok(Entity {
            id: row.get(0)?,
            epoch: Epoch::new(number(row, 1)?),
            last: Seq::new(number(row, 2)?),
            hash: EventHash::from_stored(number(row, 3)?),
        })
    });
    found.optional()
}

impl Batch<'_> {
    /// Raises the epoch of an entity.
    pub(crate) fn claim(&self, id: &EntityId) -> rusqlite::Result<Claim> {
        let empty = EventHash::of(id);
        let (kind, key) = (id.kind().as_bytes(), id.key().as_bytes());
        self.transaction
            .prepare_cached(
                "INSERT INTO entity (kind, key, epoch, last, hash) VALUES (?1, ?2, 1, 0, ?3)
             ON CONFLICT DO UPDATE SET epoch = epoch + 1",
            )?
            .execute(params![kind, key, bits(empty.get())])?;
        let entity = find(&self.transaction, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        let snapshot = self
            .transaction
            .prepare_cached(
                "SELECT seq, hash, name, version, payload FROM snapshot WHERE entity = ?1
             ORDER BY seq DESC LIMIT 1",
            )?
            .query_row([entity.id], |row| {
                let (seq, hash) =
                    (Seq::new(number(row, 0)?), EventHash::from_stored(number(row, 1)?));
                Ok(Snapshot { seq, hash, state: event(row, 2)? })
            })
            .optional()?;
        Ok(Claim { epoch: entity.epoch, last: entity.last, hash: entity.hash, snapshot })
    }

    /// Stores a commit, unless it is refused.
    pub(crate) fn commit(&mut self, commit: &Commit) -> rusqlite::Result<Outcome> {
        match decision(&self.transaction, commit.id())? {
            Some(Settled::Committed(position)) => return Ok(Outcome::Committed(position)),
            Some(Settled::Aborted) => return Ok(Outcome::Refused(Refusal::Aborted)),
            None => {}
        }
        let mut found = Vec::new();
        for (id, member) in commit.members() {
            let entity = find(&self.transaction, id)?;
            let (owner, last) = entity
                .as_ref()
                .map_or((Epoch::ZERO, Seq::ZERO), |entity| (entity.epoch, entity.last));
            if let Some(refusal) = member.check(id, owner, last) {
                return Ok(Outcome::Refused(refusal));
            }
            found.push(entity);
        }
        self.position = self.position.next();
        let position = self.position;
        for (entity, (_, member)) in found.iter().zip(commit.members()) {
            // One that was never claimed passes if nothing was known of it, and is only read then.
            let Some(entity) = entity else { continue };
            write(&self.transaction, entity.id, member, position)?;
        }
        decide(&self.transaction, commit.id(), Some(position))?;
        Ok(Outcome::Committed(position))
    }

    /// Decides whether a commit has happened.
    pub(crate) fn settle(&self, commit: CommitId) -> rusqlite::Result<Settled> {
        if let Some(settled) = decision(&self.transaction, commit)? {
            return Ok(settled);
        }
        decide(&self.transaction, commit, None)?;
        Ok(Settled::Aborted)
    }
}

fn write(
    transaction: &Transaction<'_>,
    entity: i64,
    member: &coact_persist::Member,
    position: Position,
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO event (entity, seq, position, name, version, hash, payload)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let mut last = None;
    for (seq, event, hash) in member.events() {
        insert.execute(params![
            entity,
            bits(seq.get()),
            bits(position.get()),
            event.name.as_bytes(),
            event.version,
            bits(hash.get()),
            &*event.payload,
        ])?;
        last = Some((seq, hash));
    }
    if let Some((seq, hash)) = last {
        transaction
            .prepare_cached("UPDATE entity SET last = ?2, hash = ?3 WHERE id = ?1")?
            .execute(params![entity, bits(seq.get()), bits(hash.get())])?;
    }
    member.written_snapshot().map_or(Ok(()), |snapshot| keep(transaction, entity, snapshot))
}

/// Stores a snapshot, and drops those that are too old.
fn keep(transaction: &Transaction<'_>, entity: i64, snapshot: &Snapshot) -> rusqlite::Result<()> {
    let Snapshot { seq, hash, state } = snapshot;
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO snapshot (entity, seq, hash, name, version, payload)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            entity,
            bits(seq.get()),
            bits(hash.get()),
            state.name.as_bytes(),
            state.version,
            &*state.payload,
        ])?;
    transaction
        .prepare_cached(
            "DELETE FROM snapshot WHERE entity = ?1 AND seq NOT IN
             (SELECT seq FROM snapshot WHERE entity = ?1 ORDER BY seq DESC LIMIT ?2)",
        )?
        .execute(params![entity, SNAPSHOTS])?;
    Ok(())
}

fn decision(connection: &Connection, commit: CommitId) -> rusqlite::Result<Option<Settled>> {
    let mut select = connection.prepare_cached("SELECT position FROM decision WHERE id = ?1")?;
    let found = select.query_row([commit.get().to_be_bytes()], |row| row.get::<_, Option<i64>>(0));
    Ok(found.optional()?.map(|position| match position {
        Some(position) => Settled::Committed(Position::new(position.cast_unsigned())),
        None => Settled::Aborted,
    }))
}

fn decide(
    transaction: &Transaction<'_>,
    commit: CommitId,
    position: Option<Position>,
) -> rusqlite::Result<()> {
    let position = position.map(|position| bits(position.get()));
    transaction
        .prepare_cached("INSERT INTO decision (id, position) VALUES (?1, ?2)")?
        .execute(params![commit.get().to_be_bytes(), position])?;
    Ok(())
}

/// Reads events of an entity.
pub(crate) fn events(
    connection: &Connection,
    entity: &EntityId,
    after: Seq,
    most: usize,
) -> rusqlite::Result<Vec<StoredEvent>> {
    let mut select = connection.prepare_cached(
        "SELECT seq, position, hash, name, version, payload FROM event
         WHERE entity = (SELECT id FROM entity WHERE kind = ?1 AND key = ?2) AND seq > ?3
         ORDER BY seq LIMIT ?4",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let keys = params![entity.kind().as_bytes(), entity.key().as_bytes(), bits(after.get()), most];
    let rows = select.query_map(keys, stored)?;
    rows.collect()
}

/// Whole commits: at least one, if there is any.
pub(crate) fn log(
    connection: &Connection,
    kind: &str,
    after: Position,
    most: usize,
) -> rusqlite::Result<Vec<LogEntry>> {
    let most = most.max(1);
    let limit = i64::try_from(most).unwrap_or(i64::MAX);
    let mut found = entries(connection, kind, (after, Position::new(i64::MAX as u64)), limit)?;
    if found.len() == most
        && let Some(LogEntry { stored, .. }) = found.last()
    {
        // The last commit may have more.
        let last = stored.position;
        found.retain(|entry| entry.stored.position < last);
        let before = Position::new(last.get() - 1);
        found.extend(entries(connection, kind, (before, last), i64::MAX)?);
    }
    Ok(found)
}

/// The events of commits behind the one, and up to the other.
fn entries(
    connection: &Connection,
    kind: &str,
    (after, last): (Position, Position),
    most: i64,
) -> rusqlite::Result<Vec<LogEntry>> {
    // (A cross join is one in this order: the log is read along its index.)
    let mut select = connection.prepare_cached(
        "SELECT event.seq, event.position, event.hash, event.name, event.version, event.payload, entity.key
         FROM event CROSS JOIN entity ON entity.id = event.entity
         WHERE entity.kind = ?1 AND event.position > ?2 AND event.position <= ?3
         ORDER BY event.position, entity.key, event.seq LIMIT ?4",
    )?;
    let keys = params![kind.as_bytes(), bits(after.get()), bits(last.get()), most];
    let rows = select.query_map(keys, |row| {
        let key = String::from_utf8_lossy(row.get_ref(6)?.as_blob()?).into_owned();
        Ok(LogEntry { entity: EntityId::new(kind, key), stored: stored(row)? })
    })?;
    rows.collect()
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    Ok(StoredEvent {
        seq: Seq::new(number(row, 0)?),
        position: Position::new(number(row, 1)?),
        hash: EventHash::from_stored(number(row, 2)?),
        event: event(row, 3)?,
    })
}

/// An event from its name, its version and its payload, in columns one behind the other.
fn event(row: &Row<'_>, first: usize) -> rusqlite::Result<Event> {
    let name = String::from_utf8_lossy(row.get_ref(first)?.as_blob()?).into_owned();
    let payload = row.get_ref(first + 2)?.as_blob()?.to_vec();
    Ok(Event::new(name, row.get(first + 1)?, payload))
}
