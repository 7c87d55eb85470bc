//! What a transaction looks up before it writes, and the statements that lock and read it.

use std::collections::HashMap;

use coact_persist::{
    CommitId, CommitSettlement, EntityId, Epoch, EventHash, NoteId, Position, Seq,
};
use tokio_postgres::Row;

use crate::entity_cache::{BatchEntities, EntityRow};
use crate::plan::{CommitDecision, PlannedEntity, TransactionPlan};
use crate::prepared_statements::prepared_statements;
use crate::request::WriteRequest;
use crate::row::{id_bytes, number, snapshot, to_signed};
use crate::statement_failure::StatementFailure;
use crate::statement_sender::StatementSender;

prepared_statements! {
    /// The statements that begin a transaction.
    pub(crate) struct LookupStatements {
        /// Makes missing rows, in order.
        insert_missing: "INSERT INTO entity (kind, key, epoch, last, hash)
         SELECT n.kind, n.key, 0, 0, n.hash
         FROM unnest($1::int4[], $2::bytea[], $3::int8[]) n (kind, key, hash)
         WHERE NOT EXISTS (SELECT FROM entity e WHERE e.kind = n.kind
            AND substr(e.key, 1, 512) = substr(n.key, 1, 512) AND sha256(e.key) = sha256(n.key))
         ORDER BY n.kind, n.key
         ON CONFLICT DO NOTHING",
        /// Locks all rows, in order.
        lock: "SELECT n.at, e.id, e.epoch, e.last, e.hash
         FROM unnest($1::int4[], $2::bytea[]) WITH ORDINALITY n (kind, key, at)
         JOIN entity e ON e.kind = n.kind
            AND substr(e.key, 1, 512) = substr(n.key, 1, 512) AND sha256(e.key) = sha256(n.key)
         ORDER BY e.id
         FOR NO KEY UPDATE OF e",
        decisions: "SELECT d.id, d.position FROM decision d WHERE d.id = ANY($1::bytea[])",
        /// Runs behind the locks, not with them: a statement that waited for a lock sees other rows
        /// as they were when it began. Each row has the position of the last commit; without
        /// snapshots there is one row, which has only that.
        latest: "SELECT c.last, s.at, s.seq, s.hash, s.name, s.version, s.payload, s.sum
         FROM counter c LEFT JOIN (
            SELECT n.at, s.seq, s.hash, s.name, s.version, s.payload, s.sum
            FROM unnest($1::int4[], $2::bytea[]) WITH ORDINALITY n (kind, key, at)
            JOIN entity e ON e.kind = n.kind
                AND substr(e.key, 1, 512) = substr(n.key, 1, 512) AND sha256(e.key) = sha256(n.key)
            CROSS JOIN LATERAL
                (SELECT * FROM snapshot s WHERE s.entity = e.id ORDER BY s.seq DESC LIMIT 1) s
         ) s ON true",
        /// (Changing a note takes a lock on its entity.)
        taken: "SELECT n.at, o.rank
         FROM unnest($1::int4[], $2::bytea[], $3::int2[], $4::bytea[]) WITH ORDINALITY n (kind, key, about, note, at)
         JOIN entity e ON e.kind = n.kind
            AND substr(e.key, 1, 512) = substr(n.key, 1, 512) AND sha256(e.key) = sha256(n.key)
         JOIN note o ON o.entity = e.id AND o.kind = n.about
            AND substr(o.key, 1, 512) = substr(n.note, 1, 512) AND sha256(o.key) = sha256(n.note)",
    }
}

/// What a batch has to look up.
pub(crate) struct EntityLookup<'a> {
    /// The entities whose rows are made if missing, and the hashes of their empty histories.
    made: IdentityColumns<'a>,
    hashes: Vec<i64>,
    /// All entities.
    locked: IdentityColumns<'a>,
    /// The entities whose latest snapshots are read.
    claimed: IdentityColumns<'a>,
    /// Whether to read the position of the last commit.
    asks_position: bool,
    /// The notes that commits take.
    taken: TakenNoteColumns<'a>,
    decided: Vec<Vec<u8>>,
}

/// Keys of notes, as columns.
struct TakenNoteColumns<'a> {
    notes: Vec<&'a NoteId>,
    of: IdentityColumns<'a>,
    kinds: Vec<i16>,
    keys: Vec<&'a [u8]>,
}

/// Keys of entities, as columns, with their places.
#[derive(Default)]
struct IdentityColumns<'a> {
    places: Vec<usize>,
    kinds: Vec<i32>,
    keys: Vec<&'a [u8]>,
}

impl<'a> IdentityColumns<'a> {
    fn add(&mut self, place: usize, id: &'a EntityId, kinds: &HashMap<Vec<u8>, i32>) {
        self.places.push(place);
        // `learn_kinds` found each.
        self.kinds.push(kinds.get(id.kind().as_bytes()).copied().unwrap_or_default());
        self.keys.push(id.key().as_bytes());
    }

    fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

impl<'a> EntityLookup<'a> {
    pub(crate) fn new(
        all: &'a [WriteRequest],
        batch: &BatchEntities<'a>,
        kinds: &HashMap<Vec<u8>, i32>,
    ) -> Self {
        let (notes, of) = (Vec::new(), IdentityColumns::default());
        let mut needs = Self {
            made: IdentityColumns::default(),
            hashes: Vec::new(),
            locked: IdentityColumns::default(),
            claimed: IdentityColumns::default(),
            asks_position: !all.iter().all(stores_or_settles),
            taken: TakenNoteColumns { notes, of, kinds: Vec::new(), keys: Vec::new() },
            decided: all.iter().filter_map(decides).map(id_bytes).collect(),
        };
        for (place, (id, is_made)) in batch.ids.iter().zip(&batch.are_made).enumerate() {
            needs.locked.add(place, id, kinds);
            if *is_made {
                needs.made.add(place, id, kinds);
                needs.hashes.push(to_signed(EventHash::of(id).get()));
            }
        }
        for (asked, places) in batch.of(all) {
            match asked {
                WriteRequest::Claim(id, _) => {
                    places.iter().for_each(|place| needs.claimed.add(*place, id, kinds));
                }
                WriteRequest::Commit(commit, _) => {
                    let places = &places[commit.members().count()..];
                    for (note, place) in commit.taken().iter().zip(places) {
                        needs.taken.of.add(*place, &note.entity, kinds);
                        needs.taken.kinds.push(note.kind.get().into());
                        needs.taken.keys.push(note.key.as_bytes());
                        needs.taken.notes.push(note);
                    }
                }
                WriteRequest::Settle(..) => {}
            }
        }
        needs
    }

    /// Sends the beginning of the transaction, and its queries.
    pub(crate) fn send<'s>(
        &'s self,
        statements: &'s LookupStatements,
        to: &mut StatementSender<'s>,
    ) -> Result<(), StatementFailure> {
        to.begin()?;
        let Self { made, hashes, locked, claimed, taken, decided, .. } = self;
        if !made.is_empty() {
            to.query(&statements.insert_missing, [&made.kinds, &made.keys, hashes])?;
        }
        if !locked.is_empty() {
            to.query(&statements.lock, [&locked.kinds, &locked.keys])?;
        }
        if self.asks_position {
            to.query(&statements.latest, [&claimed.kinds, &claimed.keys])?;
        }
        if !taken.notes.is_empty() {
            let TakenNoteColumns { of, kinds, keys, .. } = taken;
            to.query(&statements.taken, [&of.kinds, &of.keys, kinds, keys])?;
        }
        if !decided.is_empty() {
            to.query(&statements.decisions, [decided])?;
        }
        Ok(())
    }

    /// Builds the plan of a transaction about this many entities from the answers.
    pub(crate) fn plan(&self, answers: Vec<Vec<Row>>, entities: usize) -> TransactionPlan<'a> {
        let mut answers = answers.into_iter().skip(1 + usize::from(!self.made.is_empty()));
        let mut rows = |are_asked: bool| {
            let answer = if are_asked { answers.next() } else { None };
            answer.unwrap_or_default()
        };
        let mut plan = TransactionPlan::default();
        plan.entities.resize_with(entities, || None);
        for row in rows(!self.locked.is_empty()) {
            let (place, kind) = (self.locked.places[at(&row)], self.locked.kinds[at(&row)]);
            let (epoch, last) = (Epoch::new(number(&row, 2)), Seq::new(number(&row, 3)));
            let hash = EventHash::from_stored(number(&row, 4));
            let row = EntityRow { id: row.get(1), kind, epoch, last, hash };
            plan.entities[place] = Some(PlannedEntity::new(row));
        }
        for row in rows(self.asks_position) {
            plan.position = Some(Position::new(number(&row, 0)));
            let Some(at) = row.get::<_, Option<i64>>(1).and_then(|at| usize::try_from(at).ok())
            else {
                continue;
            };
            if let Some(entity) = &mut plan.entities[self.claimed.places[at - 1]] {
                entity.found_snapshot = Some(snapshot(&row, 2));
            }
        }
        for row in rows(!self.taken.notes.is_empty()) {
            let (place, note) = (self.taken.of.places[at(&row)], self.taken.notes[at(&row)]);
            plan.found_notes.insert((place, note.kind, note.key.clone()), number(&row, 1));
        }
        let decisions = rows(!self.decided.is_empty());
        plan.decisions = Some(decisions.iter().filter_map(decision).collect());
        plan
    }
}

fn decision(row: &Row) -> Option<(CommitId, CommitDecision)> {
    let id = <[u8; 16]>::try_from(row.get::<_, &[u8]>(0)).ok()?;
    let settled = match row.get::<_, Option<i64>>(1) {
        Some(position) => CommitSettlement::Committed(Position::new(position.cast_unsigned())),
        None => CommitSettlement::Aborted,
    };
    Some((CommitId::from_stored(u128::from_be_bytes(id)), CommitDecision::Before(settled)))
}

/// The index of the row's entity or note in the query.
fn at(row: &Row) -> usize {
    usize::try_from(number(row, 0)).map_or(0, |at| at - 1)
}

/// Whether the request needs no position of the last commit.
fn stores_or_settles(asked: &WriteRequest) -> bool {
    !matches!(asked, WriteRequest::Claim(..)) && !asked.is_check()
}

/// The commit whose decision a request needs.
fn decides(asked: &WriteRequest) -> Option<CommitId> {
    match asked {
        WriteRequest::Claim(..) => None,
        WriteRequest::Commit(commit, _) if commit.is_check() => None,
        WriteRequest::Commit(commit, _) => Some(commit.id()),
        WriteRequest::Settle(id, _) => Some(*id),
    }
}
