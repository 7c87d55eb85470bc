//! The columns of the notes that a transaction inserts or deletes.

use coact_persist::{EntityId, NoteKind, RowChecksum};

use crate::plan::PlannedEntity;
use crate::prepared_statements::prepared_statements;
use crate::row::to_signed;
use crate::statement_failure::StatementFailure;
use crate::statement_sender::StatementSender;

prepared_statements! {
    /// The statements about notes.
    pub(crate) struct NoteStatements {
        /// Deletes all notes of an entity, except those of one kind.
        delete_all: "DELETE FROM note o USING unnest($1::int8[]) n (entity) WHERE o.entity = n.entity AND o.kind <> $2",
        delete: "DELETE FROM note o USING unnest($1::int8[], $2::int2[], $3::bytea[]) n (entity, kind, key)
         WHERE o.entity = n.entity AND o.kind = n.kind
            AND substr(o.key, 1, 512) = substr(n.key, 1, 512) AND sha256(o.key) = sha256(n.key)",
        insert: "INSERT INTO note (entity, kind, key, rank, name, version, payload, sum)
         SELECT * FROM unnest($1::int8[], $2::int2[], $3::bytea[], $4::int8[], $5::bytea[], $6::int8[], $7::bytea[], $8::int8[])
         ON CONFLICT (entity, kind, substr(key, 1, 512), sha256(key)) DO UPDATE
         SET rank = excluded.rank, name = excluded.name, version = excluded.version, payload = excluded.payload,
            sum = excluded.sum",
    }
}

/// The kind of notes that outlive their entity: messages to be delivered.
const OUTGOING: i16 = NoteKind::Outgoing.get() as i16;

#[derive(Default)]
pub(crate) struct NoteColumns<'p> {
    /// Entities whose notes are deleted.
    forgets: Vec<i64>,
    removed: (Vec<i64>, Vec<i16>, Vec<&'p [u8]>),
    entities: Vec<i64>,
    kinds: Vec<i16>,
    keys: Vec<&'p [u8]>,
    ranks: Vec<i64>,
    names: Vec<&'p [u8]>,
    versions: Vec<i64>,
    payloads: Vec<&'p [u8]>,
    sums: Vec<i64>,
}

impl<'p> NoteColumns<'p> {
    pub(crate) fn is_empty(&self) -> bool {
        self.forgets.is_empty() && self.removed.0.is_empty() && self.keys.is_empty()
    }

    pub(crate) fn add(&mut self, of: &EntityId, entity: &'p PlannedEntity) {
        if entity.forgets_notes {
            self.forgets.push(entity.row.id);
        }
        for ((kind, key), note) in &entity.notes {
            let (id, code) = (entity.row.id, i16::from(kind.get()));
            let Some((rank, value)) = note else {
                self.removed.0.push(id);
                self.removed.1.push(code);
                self.removed.2.push(key.as_bytes());
                continue;
            };
            self.sums.push(to_signed(RowChecksum::of_note(of, *kind, key, *rank, value).get()));
            self.entities.push(id);
            self.kinds.push(code);
            self.keys.push(key.as_bytes());
            self.ranks.push(to_signed(*rank));
            self.names.push(value.name.as_bytes());
            self.versions.push(value.version.into());
            self.payloads.push(&value.payload);
        }
    }

    pub(crate) fn send<'a>(
        &'a self,
        statements: &'a NoteStatements,
        to: &mut StatementSender<'a>,
    ) -> Result<(), StatementFailure> {
        let Self { forgets, removed, entities, kinds, keys, ranks, names, versions, .. } = self;
        if !forgets.is_empty() {
            to.query(&statements.delete_all, [forgets, &OUTGOING])?;
        }
        if !removed.0.is_empty() {
            to.query(&statements.delete, [&removed.0, &removed.1, &removed.2])?;
        }
        if !keys.is_empty() {
            let (payloads, sums) = (&self.payloads, &self.sums);
            to.query(
                &statements.insert,
                [entities, kinds, keys, ranks, names, versions, payloads, sums],
            )?;
        }
        Ok(())
    }
}
