//! One transaction: two round trips to the server, whatever it does.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use coact_persist::{
    CommitId, EntityId, Epoch, EventHash, NoteId, NoteKind, Position, Seq, Settled, Sum,
};
use tokio::time::timeout;
use tokio_postgres::{Client, Error, Row, Statement};

use crate::failure::{Failure, Means};
use crate::job::Write;
use crate::plan::{Answer, Decision, Entity, Plan, SNAPSHOTS, concerned};
use crate::row::{bits, number, snapshot};
use crate::session::{Pipeline, Session};

/// A session that writes.
pub(crate) struct WriteSession {
    pub(crate) session: Session,
    statements: Statements,
    /// The numbers of kinds, which never change.
    kinds: HashMap<Vec<u8>, i32>,
}

struct Statements {
    make_kinds: Statement,
    find_kinds: Statement,
    make: Statement,
    lock: Statement,
    decisions: Statement,
    latest: Statement,
    taken: Statement,
    count: Statement,
    trim: Statement,
    trim_tags: Statement,
    events: Statement,
    tags: Statement,
    entities: Statement,
    drop_snapshots: Statement,
    snapshots: Statement,
    old_snapshots: Statement,
    forget_notes: Statement,
    remove_notes: Statement,
    notes: Statement,
    decide: Statement,
    prune: Statement,
}

const TEXTS: [&str; 21] = [
    // Kinds are made outside of the transaction. One that nothing is stored of does no harm.
    "INSERT INTO kind (name) SELECT n FROM unnest($1::bytea[]) n
     WHERE NOT EXISTS (SELECT FROM kind k WHERE sha256(k.name) = sha256(n)) ORDER BY n
     ON CONFLICT DO NOTHING",
    "SELECT k.name, k.id FROM unnest($1::bytea[]) n JOIN kind k ON sha256(k.name) = sha256(n)",
    // Then the rows that are to be there are made, in order, ..
    "INSERT INTO entity (kind, key, epoch, last, hash)
     SELECT n.kind, n.key, 0, 0, n.hash
     FROM unnest($1::int4[], $2::bytea[], $3::int8[]) n (kind, key, hash)
     WHERE NOT EXISTS (SELECT FROM entity e WHERE e.kind = n.kind
        AND substr(e.key, 1, 512) = substr(n.key, 1, 512) AND sha256(e.key) = sha256(n.key))
     ORDER BY n.kind, n.key
     ON CONFLICT DO NOTHING",
    // .. and all are locked, in order.
    "SELECT n.at, e.id, e.epoch, e.last, e.hash
     FROM unnest($1::int4[], $2::bytea[]) WITH ORDINALITY n (kind, key, at)
     JOIN entity e ON e.kind = n.kind
        AND substr(e.key, 1, 512) = substr(n.key, 1, 512) AND sha256(e.key) = sha256(n.key)
     ORDER BY e.kind, e.key
     FOR NO KEY UPDATE OF e",
    "SELECT d.id, d.position FROM decision d WHERE d.id = ANY($1::bytea[])",
    "SELECT n.at, s.seq, s.hash, s.name, s.version, s.payload, s.sum
     FROM unnest($1::int4[], $2::bytea[]) WITH ORDINALITY n (kind, key, at)
     JOIN entity e ON e.kind = n.kind
        AND substr(e.key, 1, 512) = substr(n.key, 1, 512) AND sha256(e.key) = sha256(n.key)
     CROSS JOIN LATERAL
        (SELECT * FROM snapshot s WHERE s.entity = e.id ORDER BY s.seq DESC LIMIT 1) s",
    // (Who changes a note has locked its entity.)
    "SELECT n.at, o.rank
     FROM unnest($1::int4[], $2::bytea[], $3::int2[], $4::bytea[]) WITH ORDINALITY n (kind, key, about, note, at)
     JOIN entity e ON e.kind = n.kind
        AND substr(e.key, 1, 512) = substr(n.key, 1, 512) AND sha256(e.key) = sha256(n.key)
     JOIN note o ON o.entity = e.id AND o.kind = n.about
        AND substr(o.key, 1, 512) = substr(n.note, 1, 512) AND sha256(o.key) = sha256(n.note)",
    // From here on no other transaction has a position before this one has ended.
    "UPDATE counter SET last = last + $1 RETURNING last",
    "DELETE FROM event v USING unnest($1::int8[], $2::int8[]) n (entity, seq)
     WHERE v.entity = n.entity AND v.seq <= n.seq",
    "DELETE FROM tag t USING unnest($1::int8[], $2::int8[]) n (entity, seq)
     WHERE t.entity = n.entity AND t.seq <= n.seq",
    "INSERT INTO event (entity, seq, position, kind, name, version, hash, payload)
     SELECT n.entity, n.seq, c.last - n.back, n.kind, n.name, n.version, n.hash, n.payload
     FROM counter c, unnest($1::int8[], $2::int8[], $3::int8[], $4::int4[], $5::bytea[], $6::int8[], $7::int8[], $8::bytea[])
        n (entity, seq, back, kind, name, version, hash, payload)",
    "INSERT INTO tag (tag, position, entity, seq, kind)
     SELECT n.tag, c.last - n.back, n.entity, n.seq, n.kind
     FROM counter c, unnest($1::bytea[], $2::int8[], $3::int8[], $4::int8[], $5::int4[]) n (tag, back, entity, seq, kind)",
    "UPDATE entity e SET epoch = n.epoch, last = n.last, hash = n.hash
     FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[]) n (id, epoch, last, hash)
     WHERE e.id = n.id",
    "DELETE FROM snapshot s USING unnest($1::int8[], $2::int8[]) n (entity, seq)
     WHERE s.entity = n.entity AND s.seq >= n.seq",
    "INSERT INTO snapshot (entity, seq, hash, name, version, payload, sum)
     SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::bytea[], $5::int8[], $6::bytea[], $7::int8[])",
    "DELETE FROM snapshot s USING unnest($1::int8[]) n (entity)
     WHERE s.entity = n.entity AND s.seq < (SELECT min(k.seq) FROM
        (SELECT k.seq FROM snapshot k WHERE k.entity = n.entity ORDER BY k.seq DESC LIMIT $2) k)",
    "DELETE FROM note o USING unnest($1::int8[]) n (entity) WHERE o.entity = n.entity AND o.kind <> $2",
    "DELETE FROM note o USING unnest($1::int8[], $2::int2[], $3::bytea[]) n (entity, kind, key)
     WHERE o.entity = n.entity AND o.kind = n.kind
        AND substr(o.key, 1, 512) = substr(n.key, 1, 512) AND sha256(o.key) = sha256(n.key)",
    "INSERT INTO note (entity, kind, key, rank, name, version, payload, sum)
     SELECT * FROM unnest($1::int8[], $2::int2[], $3::bytea[], $4::int8[], $5::bytea[], $6::int8[], $7::bytea[], $8::int8[])
     ON CONFLICT (entity, kind, substr(key, 1, 512), sha256(key)) DO UPDATE
     SET rank = excluded.rank, name = excluded.name, version = excluded.version, payload = excluded.payload,
        sum = excluded.sum",
    "INSERT INTO decision (id, position)
     SELECT n.id, c.last - n.back FROM counter c, unnest($1::bytea[], $2::int8[]) n (id, back)",
    "DELETE FROM decision d WHERE d.id = ANY($1::bytea[])",
];

/// A transaction that is committed.
pub(crate) struct Done {
    /// What has come of each thing that was asked.
    pub(crate) answers: Vec<Answer>,
    /// Before that of the first commit that it has stored.
    pub(crate) before: Position,
}

/// One that has failed.
pub(crate) struct Undone {
    pub(crate) failure: Failure,
    /// What has come of each thing that was asked, if the transaction is committed after all. `None` if it is undone.
    pub(crate) perhaps: Option<Vec<Answer>>,
}

impl From<Failure> for Undone {
    fn from(failure: Failure) -> Self {
        Self { failure, perhaps: None }
    }
}

impl WriteSession {
    pub(crate) async fn new(session: Session) -> Result<Self, Failure> {
        let [
            make_kinds,
            find_kinds,
            make,
            lock,
            decisions,
            latest,
            taken,
            count,
            trim,
            trim_tags,
            events,
            tags,
            entities,
            drop_snapshots,
            snapshots,
            old_snapshots,
            forget_notes,
            remove_notes,
            notes,
            decide,
            prune,
        ] = session.prepare(TEXTS).await?;
        let statements = Statements {
            make_kinds,
            find_kinds,
            make,
            lock,
            decisions,
            latest,
            taken,
            count,
            trim,
            trim_tags,
            events,
            tags,
            entities,
            drop_snapshots,
            snapshots,
            old_snapshots,
            forget_notes,
            remove_notes,
            notes,
            decide,
            prune,
        };
        Ok(Self { session, statements, kinds: HashMap::new() })
    }

    /// Does all that is asked, one after the other, and forgets decisions.
    pub(crate) async fn run(
        &mut self,
        all: &[Write],
        forgotten: &[CommitId],
        patience: Duration,
    ) -> Result<Done, Undone> {
        let late = |_| Failure::late(patience);
        let begun = timeout(patience, self.begin(all)).await.map_err(late).flatten();
        let mut plan = match begun {
            Ok(plan) => plan,
            Err(failure) => return Err(self.undo(failure, patience).await.into()),
        };
        let answers: Vec<Answer> = all.iter().map(|asked| plan.add(asked)).collect();
        let columns = Columns::new(&plan, forgotten);
        let mut pipeline = Pipeline::new();
        if let Err(failure) = columns.send(&self.session.client, &self.statements, &mut pipeline) {
            drop(pipeline);
            return Err(self.undo(failure, patience).await.into());
        }
        let ended = timeout(patience, pipeline.answers()).await.map_err(late).flatten();
        match ended {
            Ok(rows) => {
                let last = rows[0].first().map_or(0, |row| number(row, 0));
                let before = Position::new(last - plan.commits.min(last));
                Ok(Done { answers, before })
            }
            Err(failure) if failure.means == Means::Lost => {
                Err(Undone { failure, perhaps: Some(answers) })
            }
            Err(failure) => Err(self.undo(failure, patience).await.into()),
        }
    }

    /// Locks the entities, and reads what is to be known.
    async fn begin(&mut self, all: &[Write]) -> Result<Plan, Failure> {
        let concerned = concerned(all);
        self.learn_kinds(concerned.keys()).await?;
        let needs = Needs::new(all, &concerned, &self.kinds);
        let mut pipeline = Pipeline::new();
        needs.send(&self.session.client, &self.statements, &mut pipeline)?;
        let answers = pipeline.answers().await?;
        Ok(needs.plan(answers))
    }

    /// Makes kinds that are not there yet, and learns their numbers.
    async fn learn_kinds(
        &mut self,
        entities: impl Iterator<Item = &EntityId>,
    ) -> Result<(), Failure> {
        let kinds = entities.map(|id| id.kind().as_bytes());
        let mut unknown: Vec<&[u8]> =
            kinds.filter(|kind| !self.kinds.contains_key(*kind)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        if unknown.is_empty() {
            return Ok(());
        }
        let (client, statements) = (&self.session.client, &self.statements);
        let mut pipeline = Pipeline::new();
        let unknown = &unknown;
        for statement in [&statements.make_kinds, &statements.find_kinds] {
            pipeline.send(async move { client.query(statement, &[unknown]).await })?;
        }
        let found = pipeline.answers().await?.pop().unwrap_or_default();
        self.kinds.extend(found.iter().map(|row| (row.get(0), row.get(1))));
        Ok(())
    }

    /// Ends a transaction that is not to be committed. If the connection is not lost, it is free afterwards.
    async fn undo(&self, failure: Failure, patience: Duration) -> Failure {
        if failure.means == Means::Lost {
            return failure;
        }
        match timeout(patience, self.session.client.batch_execute("ROLLBACK")).await {
            Ok(Ok(())) => failure,
            // The server undoes it when it notices.
            _ => Failure::new(Means::Lost, failure.to_string()),
        }
    }

    /// Forgets decisions that are older than a time, but those.
    pub(crate) async fn forget_old(
        &self,
        seconds: u64,
        kept: impl Iterator<Item = CommitId>,
        patience: Duration,
    ) -> Result<u64, Failure> {
        let kept: Vec<_> = kept.map(stored_id).collect();
        let seconds = seconds as f64;
        let client = &self.session.client;
        let forget = async {
            client
                .execute(
                    "DELETE FROM decision WHERE at < now() - make_interval(secs => $1::float8)
                     AND NOT id = ANY($2::bytea[])",
                    &[&seconds, &kept],
                )
                .await
        };
        let forgotten = timeout(patience, forget).await.map_err(|_| Failure::late(patience))?;
        forgotten.map_err(|error| Failure::from(&error))
    }
}

async fn begin(client: &Client) -> Result<Vec<Row>, Error> {
    client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE").await?;
    Ok(Vec::new())
}

async fn commit(client: &Client) -> Result<Vec<Row>, Error> {
    client.batch_execute("COMMIT").await?;
    Ok(Vec::new())
}

/// What a transaction has to know.
struct Needs<'a> {
    /// Those that are made if they are not there, with the hashes that they have then.
    made: Identities<'a>,
    hashes: Vec<i64>,
    /// All of them, in order.
    locked: Identities<'a>,
    /// Those whose latest snapshots are told.
    claimed: Identities<'a>,
    /// The notes that are taken.
    taken: TakenNotes<'a>,
    decided: Vec<Vec<u8>>,
}

/// Notes, as columns.
struct TakenNotes<'a> {
    notes: Vec<&'a NoteId>,
    of: Identities<'a>,
    kinds: Vec<i16>,
    keys: Vec<&'a [u8]>,
}

impl<'a> TakenNotes<'a> {
    fn new(all: &'a [Write], kinds: &HashMap<Vec<u8>, i32>) -> Self {
        let notes: Vec<&NoteId> = all
            .iter()
            .flat_map(|asked| match asked {
                Write::Commit(commit, _) => commit.taken(),
                Write::Claim(..) | Write::Settle(..) => &[],
            })
            .collect();
        Self {
            of: Identities::new(notes.iter().map(|note| &note.entity), kinds),
            kinds: notes.iter().map(|note| note.kind.get().into()).collect(),
            keys: notes.iter().map(|note| note.key.as_bytes()).collect(),
            notes,
        }
    }
}

/// Identities of entities, as columns.
#[derive(Default)]
struct Identities<'a> {
    ids: Vec<&'a EntityId>,
    kinds: Vec<i32>,
    keys: Vec<&'a [u8]>,
}

impl<'a> Identities<'a> {
    fn new(ids: impl Iterator<Item = &'a EntityId>, kinds: &HashMap<Vec<u8>, i32>) -> Self {
        let mut identities = Self::default();
        for id in ids {
            // Each was learnt.
            identities.kinds.push(kinds.get(id.kind().as_bytes()).copied().unwrap_or_default());
            identities.keys.push(id.key().as_bytes());
            identities.ids.push(id);
        }
        identities
    }

    fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

impl<'a> Needs<'a> {
    fn new(
        all: &'a [Write],
        concerned: &'a BTreeMap<EntityId, bool>,
        kinds: &HashMap<Vec<u8>, i32>,
    ) -> Self {
        let made = concerned.iter().filter(|(_, is_made)| **is_made).map(|(id, _)| id);
        let made = Identities::new(made, kinds);
        let claimed = all.iter().filter_map(|asked| match asked {
            Write::Claim(id, _) => Some(id),
            Write::Commit(..) | Write::Settle(..) => None,
        });
        Self {
            hashes: made.ids.iter().map(|id| bits(EventHash::of(id).get())).collect(),
            made,
            locked: Identities::new(concerned.keys(), kinds),
            claimed: Identities::new(claimed, kinds),
            taken: TakenNotes::new(all, kinds),
            decided: all.iter().filter_map(decides).map(stored_id).collect(),
        }
    }

    /// Sends the beginning of the transaction, and asks for all of it.
    fn send<'s>(
        &'s self,
        client: &'s Client,
        to: &'s Statements,
        pipeline: &mut Pipeline<'s, Vec<Row>>,
    ) -> Result<(), Failure> {
        pipeline.send(begin(client))?;
        let Self { made, hashes, locked, claimed, taken, decided } = self;
        if !made.is_empty() {
            pipeline.send(async move {
                client.query(&to.make, &[&made.kinds, &made.keys, hashes]).await
            })?;
        }
        if !locked.is_empty() {
            pipeline.send(async move {
                client.query(&to.lock, &[&locked.kinds, &locked.keys]).await
            })?;
        }
        if !claimed.is_empty() {
            pipeline.send(async move {
                client.query(&to.latest, &[&claimed.kinds, &claimed.keys]).await
            })?;
        }
        if !taken.notes.is_empty() {
            pipeline.send(async move {
                let TakenNotes { of, kinds, keys, .. } = taken;
                client.query(&to.taken, &[&of.kinds, &of.keys, kinds, keys]).await
            })?;
        }
        if !decided.is_empty() {
            pipeline.send(async move { client.query(&to.decisions, &[decided]).await })?;
        }
        Ok(())
    }

    /// What was found, given the answers.
    fn plan(&self, answers: Vec<Vec<Row>>) -> Plan {
        let mut answers = answers.into_iter().skip(1 + usize::from(!self.made.is_empty()));
        let mut rows = |are_asked: bool| {
            let answer = if are_asked { answers.next() } else { None };
            answer.unwrap_or_default()
        };
        let mut plan = Plan::default();
        for row in rows(!self.locked.is_empty()) {
            let (id, kind) = (self.locked.ids[at(&row)], self.locked.kinds[at(&row)]);
            let (epoch, last) = (Epoch::new(number(&row, 2)), Seq::new(number(&row, 3)));
            let hash = EventHash::from_stored(number(&row, 4));
            plan.entities.insert(id.clone(), Entity::new(row.get(1), kind, epoch, last, hash));
        }
        for row in rows(!self.claimed.is_empty()) {
            if let Some(entity) = plan.entities.get_mut(self.claimed.ids[at(&row)]) {
                entity.found_snapshot = Some(snapshot(&row, 1));
            }
        }
        for row in rows(!self.taken.notes.is_empty()) {
            let NoteId { entity, kind, key, .. } = self.taken.notes[at(&row)];
            let place = (entity.clone(), *kind, key.clone());
            plan.found_notes.insert(place, number(&row, 1));
        }
        plan.decisions = rows(!self.decided.is_empty()).iter().filter_map(decision).collect();
        plan
    }
}

fn decision(row: &Row) -> Option<(CommitId, Decision)> {
    let id = <[u8; 16]>::try_from(row.get::<_, &[u8]>(0)).ok()?;
    let settled = match row.get::<_, Option<i64>>(1) {
        Some(position) => Settled::Committed(Position::new(position.cast_unsigned())),
        None => Settled::Aborted,
    };
    Some((CommitId::from_stored(u128::from_be_bytes(id)), Decision::Before(settled)))
}

/// Which of those that were asked for a row is of.
fn at(row: &Row) -> usize {
    usize::try_from(number(row, 0)).map_or(0, |at| at - 1)
}

/// Whose decision is to be known.
fn decides(asked: &Write) -> Option<CommitId> {
    match asked {
        Write::Claim(..) => None,
        Write::Commit(commit, _) => Some(commit.id()),
        Write::Settle(id, _) => Some(*id),
    }
}

fn stored_id(id: CommitId) -> Vec<u8> {
    id.get().to_be_bytes().to_vec()
}

/// What is written, as columns. Positions are told from the last one of the transaction backwards.
#[derive(Default)]
struct Columns<'p> {
    commits: i64,
    trimmed: (Vec<i64>, Vec<i64>),
    events: EventColumns<'p>,
    tags: TagColumns<'p>,
    moved: (Vec<i64>, Vec<i64>, Vec<i64>, Vec<i64>),
    dropped_snapshots: (Vec<i64>, Vec<i64>),
    snapshots: SnapshotColumns<'p>,
    forgets_notes: Vec<i64>,
    removed_notes: (Vec<i64>, Vec<i16>, Vec<&'p [u8]>),
    notes: NoteColumns<'p>,
    decided: (Vec<Vec<u8>>, Vec<Option<i64>>),
    forgotten: Vec<Vec<u8>>,
}

#[derive(Default)]
struct EventColumns<'p> {
    entities: Vec<i64>,
    seqs: Vec<i64>,
    back: Vec<i64>,
    kinds: Vec<i32>,
    names: Vec<&'p [u8]>,
    versions: Vec<i64>,
    hashes: Vec<i64>,
    payloads: Vec<&'p [u8]>,
}

#[derive(Default)]
struct TagColumns<'p> {
    tags: Vec<&'p [u8]>,
    back: Vec<i64>,
    entities: Vec<i64>,
    seqs: Vec<i64>,
    kinds: Vec<i32>,
}

#[derive(Default)]
struct SnapshotColumns<'p> {
    entities: Vec<i64>,
    seqs: Vec<i64>,
    hashes: Vec<i64>,
    names: Vec<&'p [u8]>,
    versions: Vec<i64>,
    payloads: Vec<&'p [u8]>,
    sums: Vec<Option<i64>>,
}

#[derive(Default)]
struct NoteColumns<'p> {
    entities: Vec<i64>,
    kinds: Vec<i16>,
    keys: Vec<&'p [u8]>,
    ranks: Vec<i64>,
    names: Vec<&'p [u8]>,
    versions: Vec<i64>,
    payloads: Vec<&'p [u8]>,
    sums: Vec<i64>,
}

impl<'p> Columns<'p> {
    fn new(plan: &'p Plan, forgotten: &[CommitId]) -> Self {
        let mut columns = Self { commits: bits(plan.commits), ..Self::default() };
        plan.entities.iter().for_each(|(of, entity)| columns.add(of, entity, plan.commits));
        for (id, commit) in plan.decided() {
            columns.decided.0.push(stored_id(id));
            columns.decided.1.push(commit.map(|commit| bits(plan.commits - commit)));
        }
        columns.forgotten = forgotten.iter().copied().map(stored_id).collect();
        columns
    }

    fn add(&mut self, of: &EntityId, entity: &'p Entity, commits: u64) {
        let id = entity.id;
        if entity.is_moved {
            self.moved.0.push(id);
            self.moved.1.push(bits(entity.epoch.get()));
            self.moved.2.push(bits(entity.last.get()));
            self.moved.3.push(bits(entity.hash.get()));
        }
        if entity.trimmed > Seq::ZERO {
            self.trimmed.0.push(id);
            self.trimmed.1.push(bits(entity.trimmed.get().min(i64::MAX as u64)));
        }
        let events = &mut self.events;
        for new in &entity.events {
            events.entities.push(id);
            events.seqs.push(bits(new.seq.get()));
            events.back.push(bits(commits - new.commit));
            events.kinds.push(entity.kind);
            events.names.push(new.event.name.as_bytes());
            events.versions.push(new.event.version.into());
            events.hashes.push(bits(new.hash.get()));
            events.payloads.push(&new.event.payload);
        }
        self.add_tags(entity, commits);
        if let Some(from) = entity.replaced_snapshots {
            self.dropped_snapshots.0.push(id);
            self.dropped_snapshots.1.push(bits(from.get()));
        }
        let snapshots = &mut self.snapshots;
        for new in &entity.snapshots {
            snapshots.entities.push(id);
            snapshots.seqs.push(bits(new.seq.get()));
            snapshots.hashes.push(bits(new.hash.get()));
            snapshots.names.push(new.state.name.as_bytes());
            snapshots.versions.push(new.state.version.into());
            snapshots.payloads.push(&new.state.payload);
            snapshots.sums.push(new.sum.map(|sum| bits(sum.get())));
        }
        self.add_notes(of, entity);
    }

    fn add_tags(&mut self, entity: &'p Entity, commits: u64) {
        let columns = &mut self.tags;
        for new in &entity.events {
            for tag in new.tags.iter() {
                columns.tags.push(tag.as_bytes());
                columns.back.push(bits(commits - new.commit));
                columns.entities.push(entity.id);
                columns.seqs.push(bits(new.seq.get()));
                columns.kinds.push(entity.kind);
            }
        }
    }

    fn add_notes(&mut self, of: &EntityId, entity: &'p Entity) {
        if entity.forgets_notes {
            self.forgets_notes.push(entity.id);
        }
        for ((kind, key), note) in &entity.notes {
            let (id, code) = (entity.id, i16::from(kind.get()));
            let Some((rank, value)) = note else {
                self.removed_notes.0.push(id);
                self.removed_notes.1.push(code);
                self.removed_notes.2.push(key.as_bytes());
                continue;
            };
            let notes = &mut self.notes;
            notes.sums.push(bits(Sum::of_note(of, *kind, key, *rank, value).get()));
            notes.entities.push(id);
            notes.kinds.push(code);
            notes.keys.push(key.as_bytes());
            notes.ranks.push(bits(*rank));
            notes.names.push(value.name.as_bytes());
            notes.versions.push(value.version.into());
            notes.payloads.push(&value.payload);
        }
    }

    /// Sends all that there is to do, and the end of the transaction.
    fn send<'a>(
        &'a self,
        client: &'a Client,
        to: &'a Statements,
        pipeline: &mut Pipeline<'a, Vec<Row>>,
    ) -> Result<(), Failure> {
        macro_rules! send {
            ($is_needed:expr, $statement:ident, $($column:expr),+) => {
                if $is_needed {
                    let sent = async move { client.query(&to.$statement, &[$(&$column),+]).await };
                    pipeline.send(sent)?;
                }
            };
        }
        // (The first answer has the position.)
        let decides = !self.decided.0.is_empty();
        send!(decides, count, self.commits);
        let trims = !self.trimmed.0.is_empty();
        send!(trims, trim, self.trimmed.0, self.trimmed.1);
        send!(trims, trim_tags, self.trimmed.0, self.trimmed.1);
        let new = &self.events;
        send!(
            !new.seqs.is_empty(),
            events,
            new.entities,
            new.seqs,
            new.back,
            new.kinds,
            new.names,
            new.versions,
            new.hashes,
            new.payloads
        );
        let new = &self.tags;
        send!(!new.tags.is_empty(), tags, new.tags, new.back, new.entities, new.seqs, new.kinds);
        let moved = &self.moved;
        send!(!moved.0.is_empty(), entities, moved.0, moved.1, moved.2, moved.3);
        let dropped = &self.dropped_snapshots;
        send!(!dropped.0.is_empty(), drop_snapshots, dropped.0, dropped.1);
        let new = &self.snapshots;
        send!(
            !new.seqs.is_empty(),
            snapshots,
            new.entities,
            new.seqs,
            new.hashes,
            new.names,
            new.versions,
            new.payloads,
            new.sums
        );
        send!(!new.seqs.is_empty(), old_snapshots, new.entities, SNAPSHOTS as i64);
        send!(
            !self.forgets_notes.is_empty(),
            forget_notes,
            self.forgets_notes,
            i16::from(NoteKind::Outgoing.get())
        );
        let removed = &self.removed_notes;
        send!(!removed.0.is_empty(), remove_notes, removed.0, removed.1, removed.2);
        let new = &self.notes;
        send!(
            !new.keys.is_empty(),
            notes,
            new.entities,
            new.kinds,
            new.keys,
            new.ranks,
            new.names,
            new.versions,
            new.payloads,
            new.sums
        );
        send!(decides, decide, self.decided.0, self.decided.1);
        send!(!self.forgotten.is_empty(), prune, self.forgotten);
        pipeline.send(commit(client))
    }
}
