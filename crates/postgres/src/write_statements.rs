//! The columns that a transaction writes, and the statements that write them.

use std::collections::HashMap;

use coact_persist::{CommitId, CommitSettlement, EntityId, Seq};
use tokio::try_join;

use crate::entity_cache::EntityRow;
use crate::event_statements::{EventColumns, EventStatements, TagColumns, TrimColumns};
use crate::note_statements::{NoteColumns, NoteStatements};
use crate::plan::{CommitDecision, NewEvent, PlannedEntity, TransactionPlan};
use crate::prepared_statements::prepared_statements;
use crate::row::{id_bytes, to_signed};
use crate::session::Session;
use crate::snapshot_statements::{SnapshotColumns, SnapshotStatements};
use crate::statement_failure::StatementFailure;
use crate::statement_sender::StatementSender;

prepared_statements! {
    /// The statements about entities, positions and decisions.
    struct CommitStatements {
        /// The whole transaction in the usual case: locks the entities in order, compares them with
        /// the expected rows, counts positions, and writes. If a row differs, it fails by a
        /// division by zero. (The hash tells an entity from another one in its row.)
        commit_expected: "WITH found AS MATERIALIZED (
            SELECT e.id, n.last AS before, n.moved, n.moved_hash,
                e.epoch = n.epoch AND e.last = n.last AND e.hash = n.hash AS is_known
            FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[])
                n (id, epoch, last, hash, moved, moved_hash)
            JOIN entity e ON e.id = n.id
            ORDER BY e.id
            FOR NO KEY UPDATE OF e
         ), counted AS (
            UPDATE counter SET last = last + $7::int4
                / (SELECT (count(*) FILTER (WHERE is_known) = cardinality($1))::int4 FROM found)
            RETURNING last
         ), moved AS (
            UPDATE entity e SET last = f.moved, hash = f.moved_hash
            FROM counted, found f WHERE e.id = f.id AND f.moved <> f.before
         ), stored AS (
            INSERT INTO event (entity, seq, position, kind, name, version, hash, payload)
            SELECT n.entity, n.seq, c.last - n.back, n.kind, n.name, n.version, n.hash, n.payload
            FROM counted c,
                unnest($8::int8[], $9::int8[], $10::int8[], $11::int4[], $12::bytea[], $13::int8[], $14::int8[], $15::bytea[])
                n (entity, seq, back, kind, name, version, hash, payload)
         ), decided AS (
            INSERT INTO decision (id, position)
            SELECT substr($16::bytea, 16 * n - 15, 16), c.last - $7::int4 + n
            FROM counted c, generate_series(1, $7::int4) n
         ), forgotten AS (
            DELETE FROM decision d
            USING generate_series(1, length($17::bytea) / 16) n WHERE d.id = substr($17::bytea, 16 * n - 15, 16)
         )
         SELECT last FROM counted",
        /// The whole of a batch of checks: compares rows without locks or writes. (A statement sees
        /// a single moment.)
        compare: "SELECT c.last,
            (SELECT count(*) FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[]) n (id, epoch, last, hash)
                JOIN entity e ON e.id = n.id AND e.epoch = n.epoch AND e.last = n.last AND e.hash = n.hash)
         FROM counter c",
        /// Until this transaction ends, no other one can take a position.
        count: "UPDATE counter SET last = last + $1::int4 RETURNING last",
        update_entities: "UPDATE entity e SET epoch = n.epoch, last = n.last, hash = n.hash
         FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[]) n (id, epoch, last, hash)
         WHERE e.id = n.id",
        insert_decisions: "INSERT INTO decision (id, position)
         SELECT substr($1::bytea, 16 * n - 15, 16), c.last - $2::int4 + n FROM counter c, generate_series(1, $2::int4) n",
        insert_aborts: "INSERT INTO decision (id) SELECT unnest($1::bytea[])",
        delete_decisions: "DELETE FROM decision d
         USING generate_series(1, length($1::bytea) / 16) n WHERE d.id = substr($1::bytea, 16 * n - 15, 16)",
    }
}

/// All statements that write.
pub(crate) struct WriteStatements {
    commits: CommitStatements,
    events: EventStatements,
    snapshots: SnapshotStatements,
    notes: NoteStatements,
}

impl WriteStatements {
    /// Prepares them all in one round trip.
    pub(crate) async fn prepare(session: &Session) -> Result<Self, StatementFailure> {
        // (The first poll of each sends its statements.)
        let (commits, events, snapshots, notes) = try_join!(
            CommitStatements::prepare(session, |text| text),
            EventStatements::prepare(session, |text| text),
            SnapshotStatements::prepare(session, |text| text),
            NoteStatements::prepare(session, |text| text),
        )?;
        Ok(Self { commits, events, snapshots, notes })
    }
}

/// The columns of a transaction. Positions count back from its last one.
#[derive(Default)]
pub(crate) struct WriteColumns<'p> {
    commits: i32,
    compared: Option<EntityComparison>,
    trimmed: TrimColumns,
    events: EventColumns<'p>,
    tags: TagColumns<'p>,
    moved: (Vec<i64>, Vec<i64>, Vec<i64>, Vec<i64>),
    snapshots: SnapshotColumns<'p>,
    notes: NoteColumns<'p>,
    /// The identities of the commits, concatenated.
    decided: Vec<u8>,
    aborted: Vec<Vec<u8>>,
    forgotten: Vec<u8>,
    /// Whether an answer reports an earlier transaction as committed. That one may not have waited
    /// for its synchronous standbys, since its connection was ended: a write behind it does wait.
    settles: bool,
}

/// Expected rows, and the rows that replace them.
#[derive(Default)]
pub(crate) struct EntityComparison {
    ids: Vec<i64>,
    epochs: Vec<i64>,
    lasts: Vec<i64>,
    hashes: Vec<i64>,
    moved: Vec<i64>,
    moved_hashes: Vec<i64>,
}

impl EntityComparison {
    pub(crate) fn new(expected: &[EntityRow], entities: &[Option<PlannedEntity>]) -> Self {
        let mut compared = Self::default();
        for (place, before) in expected.iter().enumerate() {
            let now = entities.get(place).and_then(Option::as_ref);
            let now = now.map_or(before, |entity| &entity.row);
            compared.ids.push(before.id);
            compared.epochs.push(to_signed(before.epoch.get()));
            compared.lasts.push(to_signed(before.last.get()));
            compared.hashes.push(to_signed(before.hash.get()));
            compared.moved.push(to_signed(now.last.get()));
            compared.moved_hashes.push(to_signed(now.hash.get()));
        }
        compared
    }

    /// How many entities are compared.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Queries the position of the last commit, and how many rows are as expected.
    pub(crate) fn send<'a>(
        &'a self,
        statements: &'a WriteStatements,
        to: &mut StatementSender<'a>,
    ) -> Result<(), StatementFailure> {
        let Self { ids, epochs, lasts, hashes, .. } = self;
        to.query(&statements.commits.compare, [ids, epochs, lasts, hashes])
    }
}

impl<'p> WriteColumns<'p> {
    pub(crate) fn new(
        plan: &'p TransactionPlan<'_>,
        expected: Option<&[EntityRow]>,
        ids: &[&EntityId],
        forgotten: &[CommitId],
    ) -> Self {
        let mut columns = Self {
            commits: i32::try_from(plan.commits()).unwrap_or(i32::MAX),
            compared: expected.map(|expected| EntityComparison::new(expected, &plan.entities)),
            decided: plan.stored.iter().flat_map(|id| id.get().to_be_bytes()).collect(),
            aborted: plan.aborted.iter().copied().map(id_bytes).collect(),
            forgotten: forgotten.iter().flat_map(|id| id.get().to_be_bytes()).collect(),
            settles: plan.decisions.iter().flat_map(HashMap::values).any(is_of_before),
            ..Self::default()
        };
        for (id, entity) in ids.iter().zip(&plan.entities) {
            entity.iter().for_each(|entity| columns.add(id, entity));
        }
        for new in &plan.events {
            plan.entities[new.place].iter().for_each(|entity| columns.add_event(new, &entity.row));
        }
        columns
    }

    fn add_event(&mut self, new: &'p NewEvent<'_>, of: &EntityRow) {
        let back = i64::from(self.commits) - to_signed(new.commit);
        self.events.add(new, of, back);
        self.tags.add(new, of, back);
    }

    fn add(&mut self, of: &EntityId, entity: &'p PlannedEntity) {
        let id = entity.row.id;
        if entity.is_moved && self.compared.is_none() {
            self.moved.0.push(id);
            self.moved.1.push(to_signed(entity.row.epoch.get()));
            self.moved.2.push(to_signed(entity.row.last.get()));
            self.moved.3.push(to_signed(entity.row.hash.get()));
        }
        if entity.trimmed > Seq::ZERO {
            self.trimmed.add(id, entity.trimmed);
        }
        if let Some(from) = entity.replaced_snapshots {
            self.snapshots.replace(id, from);
        }
        entity.snapshots.iter().for_each(|new| self.snapshots.add(id, new));
        self.notes.add(of, entity);
    }

    /// Sends all writes and the end of the transaction; with expected rows, its beginning as well.
    pub(crate) fn send<'a>(
        &'a self,
        statements: &'a WriteStatements,
        to: &mut StatementSender<'a>,
    ) -> Result<(), StatementFailure> {
        let Some(expected) = &self.compared else {
            self.send_begun(statements, to)?;
            return to.commit();
        };
        // A single statement is a transaction by itself.
        let has_more = self.has_more();
        if has_more {
            to.begin()?;
        }
        let new = &self.events;
        to.query(
            &statements.commits.commit_expected,
            [
                &expected.ids,
                &expected.epochs,
                &expected.lasts,
                &expected.hashes,
                &expected.moved,
                &expected.moved_hashes,
                &self.commits,
                &new.entities,
                &new.seqs,
                &new.back,
                &new.kinds,
                &new.names,
                &new.versions,
                &new.hashes,
                &new.payloads,
                &self.decided,
                &self.forgotten,
            ],
        )?;
        if has_more {
            self.trimmed.send(&statements.events, to)?;
            self.send_more(statements, to)?;
            to.commit()?;
        }
        Ok(())
    }

    /// Sends the writes of a transaction whose entities are locked.
    fn send_begun<'a>(
        &'a self,
        statements: &'a WriteStatements,
        to: &mut StatementSender<'a>,
    ) -> Result<(), StatementFailure> {
        let (decides, aborts) = (!self.decided.is_empty(), !self.aborted.is_empty());
        let commits = &statements.commits;
        if decides || aborts || self.settles {
            to.query(&commits.count, [&self.commits])?;
        }
        self.trimmed.send(&statements.events, to)?;
        self.events.send(&statements.events, to)?;
        let (ids, epochs, lasts, hashes) = &self.moved;
        if !ids.is_empty() {
            to.query(&commits.update_entities, [ids, epochs, lasts, hashes])?;
        }
        self.send_more(statements, to)?;
        if decides {
            to.query(&commits.insert_decisions, [&self.decided, &self.commits])?;
        }
        if aborts {
            to.query(&commits.insert_aborts, [&self.aborted])?;
        }
        if !self.forgotten.is_empty() {
            to.query(&commits.delete_decisions, [&self.forgotten])?;
        }
        Ok(())
    }

    /// Whether a write does not fit into the usual single statement.
    fn has_more(&self) -> bool {
        let is_plain = self.tags.is_empty() && self.trimmed.is_empty();
        !is_plain || !self.snapshots.is_empty() || !self.notes.is_empty()
    }

    /// Sends those writes, except for trims.
    fn send_more<'a>(
        &'a self,
        statements: &'a WriteStatements,
        to: &mut StatementSender<'a>,
    ) -> Result<(), StatementFailure> {
        self.tags.send(&statements.events, to)?;
        self.snapshots.send(&statements.snapshots, to)?;
        self.notes.send(&statements.notes, to)
    }
}

fn is_of_before(decision: &CommitDecision) -> bool {
    matches!(decision, CommitDecision::Before(CommitSettlement::Committed(_)))
}
