//! One transaction, and the statements in it.

use std::collections::HashMap;
use std::mem::take;
use std::sync::LazyLock;

use coact_persist::{
    Claim, Commit, CommitId, CommitMember, CommitRefusal, CommitSettlement, EntityId, Epoch,
    EventHash, Note, NoteChange, NoteId, NoteKind, Position, RowChecksum, Seq, Snapshot,
    StoreOutcome, Tags,
};
use rusqlite::{
    CachedStatement, Connection, OptionalExtension, Transaction, TransactionBehavior, params,
};

use crate::entity_cache::EntityCache;
use crate::row::{self, EntityRow, snapshot, to_signed};
use crate::schema::DECISIONS;

/// How many snapshots of an entity a store keeps. (One, if snapshots are its states.)
const SNAPSHOTS: i64 = 2;

/// How many commits pass between two deletions of old decisions.
const SWEEP_EVERY: u64 = 1 << 13;

/// One transaction.
pub(crate) struct Batch<'c> {
    transaction: Transaction<'c>,
    entities: &'c mut EntityCache,
    statements: BatchStatements<'c>,
    /// The position of the last commit before the transaction.
    first: Position,
    /// The position of the last commit.
    position: Position,
    /// Stored commits whose decisions are not written yet.
    decided: Vec<(CommitId, Position)>,
    /// Whether a commit of the transaction is a duplicate: then each decision is written before its
    /// commit is stored.
    is_careful: bool,
    /// The last events of entities whose rows are not updated yet, by row number.
    moved: HashMap<i64, EntityHead>,
    /// The index of the current request.
    pub(crate) at: usize,
    /// The index of the earlier request whose delayed write found damage.
    culprit: Option<usize>,
}

struct EntityHead {
    last: Seq,
    hash: EventHash,
    /// The index of the request that moved it.
    at: usize,
}

/// How many decisions one statement inserts.
const DECIDED: usize = 32;

static DECIDE_MANY: LazyLock<String> = LazyLock::new(|| {
    let rows = vec!["(?, ?)"; DECIDED].join(", ");
    format!("INSERT INTO decision (id, position) VALUES {rows} ON CONFLICT DO NOTHING")
});

/// The statements of nearly every commit. Keeping them costs less than a look-up of each by its
/// text.
struct BatchStatements<'c> {
    insert: CachedStatement<'c>,
    moved: CachedStatement<'c>,
    decide: CachedStatement<'c>,
}

impl<'c> BatchStatements<'c> {
    fn of(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            insert: connection.prepare_cached(
                "INSERT INTO event (entity, seq, position, name, version, hash, payload)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?,
            moved: connection
                .prepare_cached("UPDATE entity SET last = ?2, hash = ?3 WHERE id = ?1")?,
            decide: connection.prepare_cached(
                "INSERT INTO decision (id, position) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?,
        })
    }

    /// Inserts the decision on a commit. Returns false if there was one. (No look-up first: nearly
    /// all commits are new.)
    fn decide(&mut self, commit: CommitId, position: Option<Position>) -> rusqlite::Result<bool> {
        let position = position.map(|position| to_signed(position.get()));
        let inserted = self.decide.execute(params![commit.get().to_be_bytes(), position])?;
        Ok(inserted > 0)
    }
}

impl<'c> Batch<'c> {
    pub(crate) fn begin(
        connection: &'c mut Connection,
        entities: &'c mut EntityCache,
        is_careful: bool,
    ) -> rusqlite::Result<Self> {
        // From here on the connection is shared with statements that outlive the transaction.
        let connection = &*connection;
        let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
        let position = transaction
            .prepare_cached("SELECT position FROM counter")?
            .query_row([], |row| row.get(0))?;
        let position = row::position(position)?;
        let changes =
            transaction.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        entities.begin(changes);
        let statements = BatchStatements::of(connection)?;
        Ok(Self {
            transaction,
            entities,
            statements,
            first: position,
            position,
            decided: Vec::new(),
            is_careful,
            moved: HashMap::new(),
            at: 0,
            culprit: None,
        })
    }

    /// Writes what was delayed. `all_told` is true if the outcomes of all earlier commits are
    /// known.
    pub(crate) fn prepare(&mut self, all_told: bool) -> rusqlite::Result<()> {
        self.write_moved()?;
        self.write_decided()?;
        let (before, now) = (self.first.get(), self.position.get());
        if all_told && before / SWEEP_EVERY != now / SWEEP_EVERY {
            self.transaction
                .prepare_cached("DELETE FROM decision WHERE position <= ?1")?
                .execute([to_signed(now) - DECISIONS])?;
        }
        if before != now {
            self.transaction
                .prepare_cached("UPDATE counter SET position = ?1")?
                .execute([to_signed(now)])?;
        }
        Ok(())
    }

    /// Returns the index of an earlier request whose delayed write met damage.
    pub(crate) fn culprit(&self) -> Option<usize> {
        self.culprit
    }

    /// Updates the rows of entities with their last events: once for each in a transaction, unless
    /// one is read in between.
    fn write_moved(&mut self) -> rusqlite::Result<()> {
        let mut moved: Vec<_> = self.moved.drain().collect();
        // In the order of the file.
        moved.sort_unstable_by_key(|(entity, _)| *entity);
        for (entity, EntityHead { last, hash, at }) in moved {
            let written = self.statements.moved.execute(params![
                entity,
                to_signed(last.get()),
                to_signed(hash.get())
            ]);
            if written.is_err() {
                self.culprit = Some(at);
            }
            written?;
        }
        Ok(())
    }

    /// Inserts the delayed decisions.
    ///
    /// # Errors
    /// [`rusqlite::Error::StatementChangedRows`] if one of them exists.
    fn write_decided(&mut self) -> rusqlite::Result<()> {
        let decided = take(&mut self.decided);
        let mut inserted = 0;
        let (blocks, rest) = decided.as_chunks::<DECIDED>();
        if !blocks.is_empty() {
            let mut many = self.transaction.prepare_cached(&DECIDE_MANY)?;
            for block in blocks {
                for (row, (id, position)) in block.iter().enumerate() {
                    many.raw_bind_parameter(2 * row + 1, id.get().to_be_bytes())?;
                    many.raw_bind_parameter(2 * row + 2, to_signed(position.get()))?;
                }
                inserted += many.raw_execute()?;
            }
        }
        for (id, position) in rest {
            inserted += usize::from(self.statements.decide(*id, Some(*position))?);
        }
        if inserted == decided.len() {
            Ok(())
        } else {
            Err(rusqlite::Error::StatementChangedRows(inserted))
        }
    }

    /// Commits the transaction. On error, it may have been committed or not.
    pub(crate) fn commit_all(self) -> rusqlite::Result<()> {
        self.transaction.commit()
    }
}

/// Reads an entity from the file.
fn read(connection: &Connection, entity: &EntityId) -> rusqlite::Result<Option<EntityRow>> {
    let mut select = connection
        .prepare_cached("SELECT id, epoch, last, hash FROM entity WHERE kind = ?1 AND key = ?2")?;
    let keys = params![entity.kind().as_bytes(), entity.key().as_bytes()];
    select.query_row(keys, row::entity).optional()
}

impl Batch<'_> {
    /// Finds an entity that was claimed by an owner, in this process or another.
    fn find(&mut self, id: &EntityId) -> rusqlite::Result<Option<EntityRow>> {
        if let Some(entity) = self.entities.find(id) {
            return Ok(Some(entity));
        }
        self.write_moved()?;
        let found = read(&self.transaction, id)?;
        found.into_iter().for_each(|entity| self.entities.add(id.clone(), entity));
        Ok(found)
    }

    /// Raises the epoch of an entity.
    pub(crate) fn claim(&mut self, id: &EntityId) -> rusqlite::Result<Claim> {
        let empty = EventHash::of(id);
        let (kind, key) = (id.kind().as_bytes(), id.key().as_bytes());
        self.transaction
            .prepare_cached(
                "INSERT INTO entity (kind, key, epoch, last, hash) VALUES (?1, ?2, 1, 0, ?3)
             ON CONFLICT DO UPDATE SET epoch = epoch + 1",
            )?
            .execute(params![kind, key, to_signed(empty.get())])?;
        self.write_moved()?;
        let entity = read(&self.transaction, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        self.entities.add(id.clone(), entity);
        let snapshot = self
            .transaction
            .prepare_cached(
                "SELECT seq, hash, name, version, payload, sum FROM snapshot WHERE entity = ?1
             ORDER BY seq DESC LIMIT 1",
            )?
            .query_row([entity.id], snapshot)
            .optional()?;
        let EntityRow { epoch, last, hash, .. } = entity;
        Ok(Claim { epoch, last, hash, snapshot, position: self.position })
    }

    /// Stores a commit, unless it is refused.
    pub(crate) fn commit(&mut self, commit: &Commit) -> rusqlite::Result<StoreOutcome> {
        let mut found = Vec::new();
        for (id, member) in commit.members() {
            let entity = self.find(id)?;
            let refused = match &entity {
                Some(found) => member.check(id, found.epoch, (found.last, found.hash)),
                None => member.check(id, Epoch::ZERO, (Seq::ZERO, EventHash::of(id))),
            };
            if let Some(refusal) = refused {
                return if commit.is_check() {
                    Ok(StoreOutcome::Refused(refusal))
                } else {
                    self.unless_decided(commit, refusal)
                };
            }
            found.push(entity);
        }
        for note in commit.taken() {
            if !is_there(&self.transaction, note)? {
                return self.unless_decided(commit, CommitRefusal::Gone(note.clone()));
            }
        }
        if commit.is_check() {
            return Ok(StoreOutcome::Committed(self.position));
        }
        let position = self.position.next();
        if !self.is_careful {
            self.decided.push((commit.id(), position));
        } else if !self.statements.decide(commit.id(), Some(position))? {
            return self.unless_decided(commit, CommitRefusal::Aborted);
        }
        self.position = position;
        for NoteId { entity, kind, key, .. } in commit.taken() {
            self.change(entity, &NoteChange::Remove { kind: *kind, key: key.clone() })?;
        }
        for (entity, (id, member)) in found.iter().zip(commit.members()) {
            // An entity that was never claimed passes for one of which nothing is known.
            let entity =
                entity.as_ref().map_or_else(|| self.unclaimed(id), |found| Ok(found.id))?;
            if member.deletes() {
                self.moved.remove(&entity);
                delete(&self.transaction, entity, id)?;
                self.entities.move_head(id, Seq::ZERO, EventHash::of(id));
            } else {
                write(&self.transaction, &mut self.statements, (id, entity), member, position)?;
                if let Some((last, hash)) = member.moved_to() {
                    self.entities.move_head(id, last, hash);
                    self.moved.insert(entity, EntityHead { last, hash, at: self.at });
                }
            }
        }
        for Note { entity, kind, key, rank, value } in commit.left() {
            let (key, value) = (key.clone(), value.clone());
            self.change(entity, &NoteChange::Put { kind: *kind, key, rank: *rank, value })?;
        }
        Ok(StoreOutcome::Committed(position))
    }

    /// Makes the row of an entity that was never claimed.
    fn unclaimed(&self, id: &EntityId) -> rusqlite::Result<i64> {
        let hash = EventHash::of(id);
        self.transaction
            .prepare_cached(
                "INSERT INTO entity (kind, key, epoch, last, hash) VALUES (?1, ?2, 0, 0, ?3)",
            )?
            .insert(params![id.kind().as_bytes(), id.key().as_bytes(), to_signed(hash.get())])
    }

    /// Returns why a commit is refused, unless it was decided before: its members have moved since
    /// then.
    fn unless_decided(
        &mut self,
        commit: &Commit,
        refusal: CommitRefusal,
    ) -> rusqlite::Result<StoreOutcome> {
        self.write_decided()?;
        Ok(match decision(&self.transaction, commit.id())? {
            Some(CommitSettlement::Committed(position)) => StoreOutcome::Committed(position),
            Some(CommitSettlement::Aborted) => StoreOutcome::Refused(CommitRefusal::Aborted),
            None => StoreOutcome::Refused(refusal),
        })
    }

    /// Changes a note, if its entity exists.
    fn change(&mut self, id: &EntityId, note: &NoteChange) -> rusqlite::Result<()> {
        let entity = self.find(id)?;
        entity.map_or(Ok(()), |entity| change(&self.transaction, (id, entity.id), note))
    }

    /// Settles a commit as committed or aborted.
    pub(crate) fn settle(&mut self, commit: CommitId) -> rusqlite::Result<CommitSettlement> {
        self.write_decided()?;
        if let Some(settled) = decision(&self.transaction, commit)? {
            return Ok(settled);
        }
        self.statements.decide(commit, None)?;
        Ok(CommitSettlement::Aborted)
    }
}

fn write(
    transaction: &Transaction<'_>,
    statements: &mut BatchStatements<'_>,
    (id, entity): (&EntityId, i64),
    member: &CommitMember,
    position: Position,
) -> rusqlite::Result<()> {
    for (seq, event, hash) in member.events() {
        statements.insert.execute(params![
            entity,
            to_signed(seq.get()),
            to_signed(position.get()),
            event.name.as_bytes(),
            event.version,
            to_signed(hash.get()),
            &*event.payload,
        ])?;
    }
    for (seq, tags) in member.tags() {
        tag(transaction, (entity, seq, position), tags)?;
    }
    if let Some(snapshot) = member.written_snapshot() {
        keep(transaction, entity, snapshot, if member.replaces() { 1 } else { SNAPSHOTS })?;
    }
    if member.trimmed() > Seq::ZERO {
        for old in [
            "DELETE FROM event WHERE entity = ?1 AND seq <= ?2",
            "DELETE FROM tag WHERE entity = ?1 AND seq <= ?2",
        ] {
            let last = to_signed(member.trimmed().get());
            transaction.prepare_cached(old)?.execute([entity, last])?;
        }
    }
    member.notes().iter().try_for_each(|note| change(transaction, (id, entity), note))
}

fn tag(
    transaction: &Transaction<'_>,
    (entity, seq, position): (i64, Seq, Position),
    tags: &Tags,
) -> rusqlite::Result<()> {
    let mut insert = transaction
        .prepare_cached("INSERT INTO tag (tag, position, entity, seq) VALUES (?1, ?2, ?3, ?4)")?;
    for tag in tags.iter() {
        insert.execute(params![
            tag.as_bytes(),
            to_signed(position.get()),
            entity,
            to_signed(seq.get())
        ])?;
    }
    Ok(())
}

fn is_there(transaction: &Transaction<'_>, note: &NoteId) -> rusqlite::Result<bool> {
    let NoteId { entity, kind, key, rank } = note;
    transaction
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM note JOIN entity ON entity.id = note.entity
             WHERE entity.kind = ?1 AND entity.key = ?2
             AND note.kind = ?3 AND note.key = ?4 AND note.rank = ?5)",
        )?
        .query_row(
            params![
                entity.kind().as_bytes(),
                entity.key().as_bytes(),
                kind.get(),
                key.as_bytes(),
                to_signed(*rank)
            ],
            |row| row.get(0),
        )
}

fn change(
    transaction: &Transaction<'_>,
    (id, entity): (&EntityId, i64),
    note: &NoteChange,
) -> rusqlite::Result<()> {
    match note {
        NoteChange::Put { kind, key, rank, value } => transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO note (entity, kind, key, rank, name, version, payload, sum)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                entity,
                kind.get(),
                key.as_bytes(),
                to_signed(*rank),
                value.name.as_bytes(),
                value.version,
                &*value.payload,
                to_signed(RowChecksum::of_note(id, *kind, key, *rank, value).get()),
            ])?,
        NoteChange::Remove { kind, key } => transaction
            .prepare_cached("DELETE FROM note WHERE entity = ?1 AND kind = ?2 AND key = ?3")?
            .execute(params![entity, kind.get(), key.as_bytes()])?,
    };
    Ok(())
}

/// Deletes an entity, except for its epoch and the messages to be delivered.
fn delete(transaction: &Transaction<'_>, entity: i64, id: &EntityId) -> rusqlite::Result<()> {
    for all in [
        "DELETE FROM event WHERE entity = ?1",
        "DELETE FROM tag WHERE entity = ?1",
        "DELETE FROM snapshot WHERE entity = ?1",
    ] {
        transaction.prepare_cached(all)?.execute([entity])?;
    }
    transaction
        .prepare_cached("DELETE FROM note WHERE entity = ?1 AND kind <> ?2")?
        .execute(params![entity, NoteKind::Outgoing.get()])?;
    transaction
        .prepare_cached("UPDATE entity SET last = 0, hash = ?2 WHERE id = ?1")?
        .execute([entity, to_signed(EventHash::of(id).get())])?;
    Ok(())
}

/// Inserts a snapshot, and deletes old ones.
fn keep(
    transaction: &Transaction<'_>,
    entity: i64,
    snapshot: &Snapshot,
    most: i64,
) -> rusqlite::Result<()> {
    let Snapshot { seq, hash, state, sum } = snapshot;
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO snapshot (entity, seq, hash, name, version, payload, sum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            entity,
            to_signed(seq.get()),
            to_signed(hash.get()),
            state.name.as_bytes(),
            state.version,
            &*state.payload,
            sum.map(|sum| to_signed(sum.get())),
        ])?;
    transaction
        .prepare_cached(
            "DELETE FROM snapshot WHERE entity = ?1 AND seq NOT IN
             (SELECT seq FROM snapshot WHERE entity = ?1 ORDER BY seq DESC LIMIT ?2)",
        )?
        .execute([entity, most])?;
    Ok(())
}

/// Reads the decision on a commit, if there is one.
pub(crate) fn decision(
    connection: &Connection,
    commit: CommitId,
) -> rusqlite::Result<Option<CommitSettlement>> {
    let mut select = connection.prepare_cached("SELECT position FROM decision WHERE id = ?1")?;
    let found = select.query_row([commit.get().to_be_bytes()], |row| row.get::<_, Option<i64>>(0));
    Ok(found.optional()?.map(|position| match position {
        Some(position) => CommitSettlement::Committed(Position::new(position.cast_unsigned())),
        None => CommitSettlement::Aborted,
    }))
}
