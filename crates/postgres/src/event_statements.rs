//! The columns of the events and tags that a transaction inserts or trims.

use coact_persist::Seq;

use crate::entity_cache::EntityRow;
use crate::plan::NewEvent;
use crate::prepared_statements::prepared_statements;
use crate::row::to_signed;
use crate::statement_failure::StatementFailure;
use crate::statement_sender::StatementSender;

prepared_statements! {
    /// The statements about events and their tags.
    pub(crate) struct EventStatements {
        trim: "DELETE FROM event v USING unnest($1::int8[], $2::int8[]) n (entity, seq)
         WHERE v.entity = n.entity AND v.seq <= n.seq",
        trim_tags: "DELETE FROM tag t USING unnest($1::int8[], $2::int8[]) n (entity, seq)
         WHERE t.entity = n.entity AND t.seq <= n.seq",
        insert: "INSERT INTO event (entity, seq, position, kind, name, version, hash, payload)
         SELECT n.entity, n.seq, c.last - n.back, n.kind, n.name, n.version, n.hash, n.payload
         FROM counter c, unnest($1::int8[], $2::int8[], $3::int8[], $4::int4[], $5::bytea[], $6::int8[], $7::int8[], $8::bytea[])
            n (entity, seq, back, kind, name, version, hash, payload)",
        insert_tags: "INSERT INTO tag (tag, position, entity, seq, kind)
         SELECT n.tag, c.last - n.back, n.entity, n.seq, n.kind
         FROM counter c, unnest($1::bytea[], $2::int8[], $3::int8[], $4::int8[], $5::int4[]) n (tag, back, entity, seq, kind)",
    }
}

/// Events to insert. `back` counts from the transaction's last position.
#[derive(Default)]
pub(crate) struct EventColumns<'p> {
    pub(crate) entities: Vec<i64>,
    pub(crate) seqs: Vec<i64>,
    pub(crate) back: Vec<i64>,
    pub(crate) kinds: Vec<i32>,
    pub(crate) names: Vec<&'p [u8]>,
    pub(crate) versions: Vec<i64>,
    pub(crate) hashes: Vec<i64>,
    pub(crate) payloads: Vec<&'p [u8]>,
}

/// Tags to insert, with the columns of their events.
#[derive(Default)]
pub(crate) struct TagColumns<'p> {
    tags: Vec<&'p [u8]>,
    back: Vec<i64>,
    entities: Vec<i64>,
    seqs: Vec<i64>,
    kinds: Vec<i32>,
}

/// The last event to delete of each trimmed entity.
#[derive(Default)]
pub(crate) struct TrimColumns {
    entities: Vec<i64>,
    seqs: Vec<i64>,
}

impl<'p> EventColumns<'p> {
    pub(crate) fn add(&mut self, new: &'p NewEvent<'_>, of: &EntityRow, back: i64) {
        self.entities.push(of.id);
        self.seqs.push(to_signed(new.seq.get()));
        self.back.push(back);
        self.kinds.push(of.kind);
        self.names.push(new.event.name.as_bytes());
        self.versions.push(new.event.version.into());
        self.hashes.push(to_signed(new.hash.get()));
        self.payloads.push(&new.event.payload);
    }

    pub(crate) fn send<'a>(
        &'a self,
        statements: &'a EventStatements,
        to: &mut StatementSender<'a>,
    ) -> Result<(), StatementFailure> {
        let Self { entities, seqs, back, kinds, names, versions, hashes, payloads } = self;
        if seqs.is_empty() {
            return Ok(());
        }
        to.query(
            &statements.insert,
            [entities, seqs, back, kinds, names, versions, hashes, payloads],
        )
    }
}

impl<'p> TagColumns<'p> {
    pub(crate) fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    pub(crate) fn add(&mut self, new: &'p NewEvent<'_>, of: &EntityRow, back: i64) {
        for tag in new.tags.iter() {
            self.tags.push(tag.as_bytes());
            self.back.push(back);
            self.entities.push(of.id);
            self.seqs.push(to_signed(new.seq.get()));
            self.kinds.push(of.kind);
        }
    }

    pub(crate) fn send<'a>(
        &'a self,
        statements: &'a EventStatements,
        to: &mut StatementSender<'a>,
    ) -> Result<(), StatementFailure> {
        let Self { tags, back, entities, seqs, kinds } = self;
        if self.is_empty() {
            return Ok(());
        }
        to.query(&statements.insert_tags, [tags, back, entities, seqs, kinds])
    }
}

impl TrimColumns {
    pub(crate) fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    pub(crate) fn add(&mut self, id: i64, up_to: Seq) {
        self.entities.push(id);
        self.seqs.push(to_signed(up_to.get().min(i64::MAX as u64)));
    }

    pub(crate) fn send<'a>(
        &'a self,
        statements: &'a EventStatements,
        to: &mut StatementSender<'a>,
    ) -> Result<(), StatementFailure> {
        let Self { entities, seqs } = self;
        if self.is_empty() {
            return Ok(());
        }
        to.query(&statements.trim, [entities, seqs])?;
        to.query(&statements.trim_tags, [entities, seqs])
    }
}
