//! The columns of the snapshots that a transaction inserts or deletes.

use coact_persist::{Seq, Snapshot};

use crate::plan::SNAPSHOTS;
use crate::prepared_statements::prepared_statements;
use crate::row::to_signed;
use crate::statement_failure::StatementFailure;
use crate::statement_sender::StatementSender;

prepared_statements! {
    /// The statements about snapshots.
    pub(crate) struct SnapshotStatements {
        delete_from: "DELETE FROM snapshot s USING unnest($1::int8[], $2::int8[]) n (entity, seq)
         WHERE s.entity = n.entity AND s.seq >= n.seq",
        insert: "INSERT INTO snapshot (entity, seq, hash, name, version, payload, sum)
         SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::bytea[], $5::int8[], $6::bytea[], $7::int8[])",
        delete_old: "DELETE FROM snapshot s USING unnest($1::int8[]) n (entity)
         WHERE s.entity = n.entity AND s.seq < (SELECT min(k.seq) FROM
            (SELECT k.seq FROM snapshot k WHERE k.entity = n.entity ORDER BY k.seq DESC LIMIT $2) k)",
    }
}

/// How many snapshots of an entity a store keeps.
const KEPT: i64 = SNAPSHOTS as i64;

#[derive(Default)]
pub(crate) struct SnapshotColumns<'p> {
    /// The first snapshot to delete, of each entity whose snapshots are replaced.
    replaced: (Vec<i64>, Vec<i64>),
    entities: Vec<i64>,
    seqs: Vec<i64>,
    hashes: Vec<i64>,
    names: Vec<&'p [u8]>,
    versions: Vec<i64>,
    payloads: Vec<&'p [u8]>,
    sums: Vec<Option<i64>>,
}

impl<'p> SnapshotColumns<'p> {
    pub(crate) fn is_empty(&self) -> bool {
        self.replaced.0.is_empty() && self.seqs.is_empty()
    }

    /// Deletes the snapshots of an entity from a number on.
    pub(crate) fn replace(&mut self, id: i64, from: Seq) {
        self.replaced.0.push(id);
        self.replaced.1.push(to_signed(from.get()));
    }

    pub(crate) fn add(&mut self, id: i64, new: &'p Snapshot) {
        self.entities.push(id);
        self.seqs.push(to_signed(new.seq.get()));
        self.hashes.push(to_signed(new.hash.get()));
        self.names.push(new.state.name.as_bytes());
        self.versions.push(new.state.version.into());
        self.payloads.push(&new.state.payload);
        self.sums.push(new.sum.map(|sum| to_signed(sum.get())));
    }

    pub(crate) fn send<'a>(
        &'a self,
        statements: &'a SnapshotStatements,
        to: &mut StatementSender<'a>,
    ) -> Result<(), StatementFailure> {
        let Self { replaced, entities, seqs, hashes, names, versions, payloads, sums } = self;
        if !replaced.0.is_empty() {
            to.query(&statements.delete_from, [&replaced.0, &replaced.1])?;
        }
        if !seqs.is_empty() {
            to.query(
                &statements.insert,
                [entities, seqs, hashes, names, versions, payloads, sums],
            )?;
            to.query(&statements.delete_old, [entities, &KEPT])?;
        }
        Ok(())
    }
}
