//! One transaction: one round trip to the server if all is known that it is about, and two if not, whatever it does.

use std::collections::HashMap;
use std::time::Duration;

use coact_persist::{
    CommitId, EntityId, Epoch, EventHash, NoteId, NoteKind, Position, Seq, Settled, Sum,
};
use tokio::time::timeout;
use tokio_postgres::{Client, Error, Row, Statement};

use crate::failure::{Failure, Means};
use crate::job::Write;
use crate::known::{self, Concerned, Known};
use crate::plan::{Answer, Decision, Entity, NewEvent, Plan, SNAPSHOTS};
use crate::row::{bits, number, snapshot};
use crate::session::{Pipeline, Session};

/// A session that writes.
pub(crate) struct WriteSession {
    pub(crate) session: Session,
    statements: Statements,
    /// The numbers of kinds, which never change.
    kinds: HashMap<Vec<u8>, i32>,
    known: Known,
}

struct Statements {
    store: Statement,
    make_kinds: Statement,
    find_kinds: Statement,
    make: Statement,
    lock: Statement,
    decisions: Statement,
    compare: Statement,
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
    abort: Statement,
    prune: Statement,
}

const TEXTS: [&str; 24] = [
    // All that most transactions are, if the entities are as they are known: locks them, in order, counts positions, and writes. If one
    // is not, it fails, as it divides by zero. (By its hash it is the entity that it was, even if someone has exchanged the rows.)
    "WITH found AS MATERIALIZED (
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
     ORDER BY e.id
     FOR NO KEY UPDATE OF e",
    "SELECT d.id, d.position FROM decision d WHERE d.id = ANY($1::bytea[])",
    // All that checks are, if the entities are as they are known: nothing is locked, nor written.
    // (One statement sees one moment.)
    "SELECT c.last,
        (SELECT count(*) FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[]) n (id, epoch, last, hash)
            JOIN entity e ON e.id = n.id AND e.epoch = n.epoch AND e.last = n.last AND e.hash = n.hash)
     FROM counter c",
    // Behind the locks, and not with them: a statement that has waited for one sees other rows as
    // they were when it began. In each row comes the position of the last commit; if there is no
    // snapshot, it comes alone.
    "SELECT c.last, s.at, s.seq, s.hash, s.name, s.version, s.payload, s.sum
     FROM counter c LEFT JOIN (
        SELECT n.at, s.seq, s.hash, s.name, s.version, s.payload, s.sum
        FROM unnest($1::int4[], $2::bytea[]) WITH ORDINALITY n (kind, key, at)
        JOIN entity e ON e.kind = n.kind
            AND substr(e.key, 1, 512) = substr(n.key, 1, 512) AND sha256(e.key) = sha256(n.key)
        CROSS JOIN LATERAL
            (SELECT * FROM snapshot s WHERE s.entity = e.id ORDER BY s.seq DESC LIMIT 1) s
     ) s ON true",
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
     SELECT substr($1::bytea, 16 * n - 15, 16), c.last - $2::int4 + n FROM counter c, generate_series(1, $2::int4) n",
    "INSERT INTO decision (id) SELECT unnest($1::bytea[])",
    "DELETE FROM decision d
     USING generate_series(1, length($1::bytea) / 16) n WHERE d.id = substr($1::bytea, 16 * n - 15, 16)",
];

/// A transaction that is committed.
pub(crate) struct Done {
    /// What has come of each thing that was asked.
    pub(crate) answers: Vec<Answer>,
    /// Before that of the first commit that it has stored; of one that has stored none, that of the
    /// last one that there is.
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
            store,
            make_kinds,
            find_kinds,
            make,
            lock,
            decisions,
            compare,
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
            abort,
            prune,
        ] = session.prepare(TEXTS).await?;
        let statements = Statements {
            store,
            make_kinds,
            find_kinds,
            make,
            lock,
            decisions,
            compare,
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
            abort,
            prune,
        };
        Ok(Self { session, statements, kinds: HashMap::new(), known: Known::default() })
    }

    /// Does all that is asked, one after the other, and forgets decisions.
    pub(crate) async fn run(
        &mut self,
        all: &[Write],
        forgotten: &[CommitId],
        patience: Duration,
    ) -> Result<Done, Undone> {
        let concerned = self.known.concerned(all);
        let mut done = None;
        if let Some((known, planned)) = self.guess(all, &concerned) {
            let stored = if all.iter().all(Write::is_check) {
                self.compare(planned, &known, patience).await
            } else {
                self.store(planned, Some(&known), &concerned, forgotten, patience).await
            };
            let is_wrong = |undone: &Undone| undone.failure.means == Means::Stale;
            done = Some(stored).filter(|stored| !stored.as_ref().is_err_and(is_wrong));
        }
        let done = match done {
            Some(done) => done,
            None => match self.find_out(all, &concerned, patience).await {
                Ok(planned) => self.store(planned, None, &concerned, forgotten, patience).await,
                Err(failure) => Err(self.undo(failure, patience).await.into()),
            },
        };
        if done.is_err() {
            self.known.forget_all();
        }
        done
    }

    /// What is known of the entities, and what is done if they are still so, and no commit was decided on before. `None` if that does not say
    /// all that is to be known, or some of it is refused.
    fn guess<'a>(
        &self,
        all: &'a [Write],
        concerned: &Concerned<'a>,
    ) -> Option<(Vec<known::Row>, Planned<'a>)> {
        let is_plain = |asked: &Write| match asked {
            Write::Commit(commit, _) => {
                let has_notes = !commit.taken().is_empty() || !commit.left().is_empty();
                !has_notes && !commit.members().any(|(_, member)| member.deletes())
            }
            Write::Claim(..) | Write::Settle(..) => false,
        };
        if !all.iter().all(is_plain) {
            return None;
        }
        let known = self.known.all_of(concerned)?;
        let entities = known.iter().map(|row| Some(Entity::new(*row))).collect();
        let planned = Planned::new(Plan { entities, ..Plan::default() }, all, concerned);
        let is_refused =
            |answer: &Answer| matches!(answer, Answer::Commit(Err(_)) | Answer::Check(Err(_)));
        (!planned.answers.iter().any(is_refused)).then_some((known, planned))
    }

    /// Finds out how all is that is to be known, and locks it.
    async fn find_out<'a>(
        &mut self,
        all: &'a [Write],
        concerned: &Concerned<'a>,
        patience: Duration,
    ) -> Result<Planned<'a>, Failure> {
        let begun = timeout(patience, self.begin(all, concerned)).await;
        let plan = begun.map_err(|_| Failure::late(patience)).flatten()?;
        Ok(Planned::new(plan, all, concerned))
    }

    /// Stores what is planned, and ends the transaction; given what is known of the entities, if it is not begun yet.
    async fn store(
        &mut self,
        Planned { plan, answers }: Planned<'_>,
        known: Option<&[known::Row]>,
        concerned: &Concerned<'_>,
        forgotten: &[CommitId],
        patience: Duration,
    ) -> Result<Done, Undone> {
        let columns = Columns::new(&plan, known, &concerned.ids, forgotten);
        let (client, statements) = (&self.session.client, &self.statements);
        let mut to = Sending { client, statements, pipeline: Pipeline::new() };
        if let Err(failure) = columns.send(&mut to) {
            drop(to);
            return Err(self.undo(failure, patience).await.into());
        }
        let ended = timeout(patience, to.pipeline.answers()).await;
        match ended.map_err(|_| Failure::late(patience)).flatten() {
            Ok(rows) => {
                // (One statement at most has told something.)
                let counted = rows.iter().flatten().next().map(|row| {
                    let last = number(row, 0);
                    Position::new(last - plan.commits().min(last))
                });
                let before = counted.or(plan.position).unwrap_or_default();
                for (place, entity) in plan.entities.iter().enumerate() {
                    entity.iter().for_each(|found| self.known.set(concerned, place, found.row));
                }
                Ok(Done { answers, before })
            }
            Err(failure) if failure.means == Means::Lost => {
                Err(Undone { failure, perhaps: Some(answers) })
            }
            Err(failure) => Err(self.undo(failure, patience).await.into()),
        }
    }

    /// Compares checks, all at one moment, with what is stored, given what is known of the
    /// entities: by that they pass.
    async fn compare(
        &self,
        Planned { answers, .. }: Planned<'_>,
        known: &[known::Row],
        patience: Duration,
    ) -> Result<Done, Undone> {
        let Compared { ids, epochs, lasts, hashes, .. } = Compared::new(known, &[]);
        let (client, compare) = (&self.session.client, &self.statements.compare);
        let mut pipeline = Pipeline::new();
        let columns = (&ids, &epochs, &lasts, &hashes);
        pipeline.send(async move {
            client.query(compare, &[columns.0, columns.1, columns.2, columns.3]).await
        })?;
        let compared = timeout(patience, pipeline.answers()).await;
        match compared.map_err(|_| Failure::late(patience)).flatten() {
            Ok(rows) => {
                let row = rows.iter().flatten().next();
                let (last, same) = row.map_or((0, 0), |row| (number(row, 0), number(row, 1)));
                if same != ids.len() as u64 {
                    return Err(Failure::new(Means::Stale, "an entity was changed").into());
                }
                Ok(Done { answers, before: Position::new(last) })
            }
            Err(failure) => Err(self.undo(failure, patience).await.into()),
        }
    }

    /// Locks the entities, and reads what is to be known.
    async fn begin<'a>(
        &mut self,
        all: &'a [Write],
        concerned: &Concerned<'a>,
    ) -> Result<Plan<'a>, Failure> {
        self.learn_kinds(&concerned.ids).await?;
        let needs = Needs::new(all, concerned, &self.kinds);
        let mut pipeline = Pipeline::new();
        needs.send(&self.session.client, &self.statements, &mut pipeline)?;
        let answers = pipeline.answers().await?;
        Ok(needs.plan(answers, concerned.ids.len()))
    }

    /// Makes kinds that are not there yet, and learns their numbers.
    async fn learn_kinds(&mut self, entities: &[&EntityId]) -> Result<(), Failure> {
        let kinds = entities.iter().map(|id| id.kind().as_bytes());
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

/// What a transaction does, and what comes of all that was asked, if it is committed.
struct Planned<'a> {
    plan: Plan<'a>,
    answers: Vec<Answer>,
}

impl<'a> Planned<'a> {
    fn new(mut plan: Plan<'a>, all: &'a [Write], concerned: &Concerned<'a>) -> Self {
        let asked = concerned.of(all);
        let answers = asked.map(|(asked, places)| plan.add(asked, places)).collect();
        Self { plan, answers }
    }
}

/// What a transaction has to know.
struct Needs<'a> {
    /// Those that are made if they are not there, with the hashes that they have then.
    made: Identities<'a>,
    hashes: Vec<i64>,
    /// All of them.
    locked: Identities<'a>,
    /// Those whose latest snapshots are told.
    claimed: Identities<'a>,
    /// Whether the position of the last commit is told.
    asks_position: bool,
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

/// Identities of entities, as columns, and their places.
#[derive(Default)]
struct Identities<'a> {
    places: Vec<usize>,
    kinds: Vec<i32>,
    keys: Vec<&'a [u8]>,
}

impl<'a> Identities<'a> {
    fn add(&mut self, place: usize, id: &'a EntityId, kinds: &HashMap<Vec<u8>, i32>) {
        self.places.push(place);
        // Each was learnt.
        self.kinds.push(kinds.get(id.kind().as_bytes()).copied().unwrap_or_default());
        self.keys.push(id.key().as_bytes());
    }

    fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

impl<'a> Needs<'a> {
    fn new(all: &'a [Write], concerned: &Concerned<'a>, kinds: &HashMap<Vec<u8>, i32>) -> Self {
        let (notes, of) = (Vec::new(), Identities::default());
        let mut needs = Self {
            made: Identities::default(),
            hashes: Vec::new(),
            locked: Identities::default(),
            claimed: Identities::default(),
            asks_position: !all.iter().all(stores_or_settles),
            taken: TakenNotes { notes, of, kinds: Vec::new(), keys: Vec::new() },
            decided: all.iter().filter_map(decides).map(stored_id).collect(),
        };
        for (place, (id, is_made)) in concerned.ids.iter().zip(&concerned.are_made).enumerate() {
            needs.locked.add(place, id, kinds);
            if *is_made {
                needs.made.add(place, id, kinds);
                needs.hashes.push(bits(EventHash::of(id).get()));
            }
        }
        for (asked, places) in concerned.of(all) {
            match asked {
                Write::Claim(id, _) => {
                    places.iter().for_each(|place| needs.claimed.add(*place, id, kinds));
                }
                Write::Commit(commit, _) => {
                    let places = &places[commit.members().count()..];
                    for (note, place) in commit.taken().iter().zip(places) {
                        needs.taken.of.add(*place, &note.entity, kinds);
                        needs.taken.kinds.push(note.kind.get().into());
                        needs.taken.keys.push(note.key.as_bytes());
                        needs.taken.notes.push(note);
                    }
                }
                Write::Settle(..) => {}
            }
        }
        needs
    }

    /// Sends the beginning of the transaction, and asks for all of it.
    fn send<'s>(
        &'s self,
        client: &'s Client,
        to: &'s Statements,
        pipeline: &mut Pipeline<'s, Vec<Row>>,
    ) -> Result<(), Failure> {
        pipeline.send(begin(client))?;
        let Self { made, hashes, locked, claimed, asks_position, taken, decided } = self;
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
        if *asks_position {
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

    /// What was found of this number of entities, given the answers.
    fn plan(&self, answers: Vec<Vec<Row>>, entities: usize) -> Plan<'a> {
        let mut answers = answers.into_iter().skip(1 + usize::from(!self.made.is_empty()));
        let mut rows = |are_asked: bool| {
            let answer = if are_asked { answers.next() } else { None };
            answer.unwrap_or_default()
        };
        let mut plan = Plan::default();
        plan.entities.resize_with(entities, || None);
        for row in rows(!self.locked.is_empty()) {
            let (place, kind) = (self.locked.places[at(&row)], self.locked.kinds[at(&row)]);
            let (epoch, last) = (Epoch::new(number(&row, 2)), Seq::new(number(&row, 3)));
            let hash = EventHash::from_stored(number(&row, 4));
            let row = known::Row { id: row.get(1), kind, epoch, last, hash };
            plan.entities[place] = Some(Entity::new(row));
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

fn is_of_before(decision: &Decision) -> bool {
    matches!(decision, Decision::Before(Settled::Committed(_)))
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

/// Whether the position of the last commit is of no interest to it.
fn stores_or_settles(asked: &Write) -> bool {
    !matches!(asked, Write::Claim(..)) && !asked.is_check()
}

/// Whose decision is to be known.
fn decides(asked: &Write) -> Option<CommitId> {
    match asked {
        Write::Claim(..) => None,
        Write::Commit(commit, _) if commit.is_check() => None,
        Write::Commit(commit, _) => Some(commit.id()),
        Write::Settle(id, _) => Some(*id),
    }
}

fn stored_id(id: CommitId) -> Vec<u8> {
    id.get().to_be_bytes().to_vec()
}

/// Where statements are sent.
struct Sending<'a> {
    client: &'a Client,
    statements: &'a Statements,
    pipeline: Pipeline<'a, Vec<Row>>,
}

/// Sends a statement, if it is needed.
macro_rules! send {
    ($to:ident, $is_needed:expr, $statement:ident, $($column:expr),+) => {
        if $is_needed {
            let (client, statement) = ($to.client, &$to.statements.$statement);
            $to.pipeline.send(async move { client.query(statement, &[$(&$column),+]).await })?;
        }
    };
}

/// What is written, as columns. Positions are told from the last one of the transaction backwards.
#[derive(Default)]
struct Columns<'p> {
    commits: i32,
    compared: Option<Compared>,
    trimmed: (Vec<i64>, Vec<i64>),
    events: EventColumns<'p>,
    tags: TagColumns<'p>,
    moved: (Vec<i64>, Vec<i64>, Vec<i64>, Vec<i64>),
    dropped_snapshots: (Vec<i64>, Vec<i64>),
    snapshots: SnapshotColumns<'p>,
    forgets_notes: Vec<i64>,
    removed_notes: (Vec<i64>, Vec<i16>, Vec<&'p [u8]>),
    notes: NoteColumns<'p>,
    /// The identities of commits, one behind the other.
    decided: Vec<u8>,
    aborted: Vec<Vec<u8>>,
    forgotten: Vec<u8>,
    /// Whether it is told that a former transaction is committed. Its end may not have waited for the
    /// standbys that are to have it, as its connection was ended: what is written behind it does.
    settles: bool,
}

/// Entities as they have to be, and as they are then.
#[derive(Default)]
struct Compared {
    ids: Vec<i64>,
    epochs: Vec<i64>,
    lasts: Vec<i64>,
    hashes: Vec<i64>,
    moved: Vec<i64>,
    moved_hashes: Vec<i64>,
}

impl Compared {
    fn new(known: &[known::Row], entities: &[Option<Entity>]) -> Self {
        let mut compared = Self::default();
        for (place, before) in known.iter().enumerate() {
            let now = entities.get(place).and_then(Option::as_ref);
            let now = now.map_or(before, |entity| &entity.row);
            compared.ids.push(before.id);
            compared.epochs.push(bits(before.epoch.get()));
            compared.lasts.push(bits(before.last.get()));
            compared.hashes.push(bits(before.hash.get()));
            compared.moved.push(bits(now.last.get()));
            compared.moved_hashes.push(bits(now.hash.get()));
        }
        compared
    }
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
    fn new(
        plan: &'p Plan<'_>,
        known: Option<&[known::Row]>,
        ids: &[&EntityId],
        forgotten: &[CommitId],
    ) -> Self {
        let mut columns = Self {
            commits: i32::try_from(plan.commits()).unwrap_or(i32::MAX),
            compared: known.map(|known| Compared::new(known, &plan.entities)),
            decided: plan.stored.iter().flat_map(|id| id.get().to_be_bytes()).collect(),
            aborted: plan.aborted.iter().copied().map(stored_id).collect(),
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

    fn add_event(&mut self, new: &'p NewEvent<'_>, of: &known::Row) {
        let back = i64::from(self.commits) - bits(new.commit);
        let events = &mut self.events;
        events.entities.push(of.id);
        events.seqs.push(bits(new.seq.get()));
        events.back.push(back);
        events.kinds.push(of.kind);
        events.names.push(new.event.name.as_bytes());
        events.versions.push(new.event.version.into());
        events.hashes.push(bits(new.hash.get()));
        events.payloads.push(&new.event.payload);
        let tags = &mut self.tags;
        for tag in new.tags.iter() {
            tags.tags.push(tag.as_bytes());
            tags.back.push(back);
            tags.entities.push(of.id);
            tags.seqs.push(bits(new.seq.get()));
            tags.kinds.push(of.kind);
        }
    }

    fn add(&mut self, of: &EntityId, entity: &'p Entity) {
        let id = entity.row.id;
        if entity.is_moved && self.compared.is_none() {
            self.moved.0.push(id);
            self.moved.1.push(bits(entity.row.epoch.get()));
            self.moved.2.push(bits(entity.row.last.get()));
            self.moved.3.push(bits(entity.row.hash.get()));
        }
        if entity.trimmed > Seq::ZERO {
            self.trimmed.0.push(id);
            self.trimmed.1.push(bits(entity.trimmed.get().min(i64::MAX as u64)));
        }
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

    fn add_notes(&mut self, of: &EntityId, entity: &'p Entity) {
        if entity.forgets_notes {
            self.forgets_notes.push(entity.row.id);
        }
        for ((kind, key), note) in &entity.notes {
            let (id, code) = (entity.row.id, i16::from(kind.get()));
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

    /// Sends all that there is to do, and the end of the transaction; if it is not begun yet, its beginning as well.
    fn send<'a>(&'a self, to: &mut Sending<'a>) -> Result<(), Failure> {
        let Some(known) = &self.compared else {
            self.send_begun(to)?;
            return to.pipeline.send(commit(to.client));
        };
        // A single statement needs no beginning and no end.
        let has_more = self.has_more();
        if has_more {
            to.pipeline.send(begin(to.client))?;
        }
        let new = &self.events;
        send!(
            to,
            true,
            store,
            known.ids,
            known.epochs,
            known.lasts,
            known.hashes,
            known.moved,
            known.moved_hashes,
            self.commits,
            new.entities,
            new.seqs,
            new.back,
            new.kinds,
            new.names,
            new.versions,
            new.hashes,
            new.payloads,
            self.decided,
            self.forgotten
        );
        if has_more {
            self.send_trims(to)?;
            self.send_more(to)?;
            to.pipeline.send(commit(to.client))?;
        }
        Ok(())
    }

    fn send_begun<'a>(&'a self, to: &mut Sending<'a>) -> Result<(), Failure> {
        let decides = !self.decided.is_empty();
        let aborts = !self.aborted.is_empty();
        send!(to, decides || aborts || self.settles, count, i64::from(self.commits));
        self.send_trims(to)?;
        let new = &self.events;
        send!(
            to,
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
        let moved = &self.moved;
        send!(to, !moved.0.is_empty(), entities, moved.0, moved.1, moved.2, moved.3);
        self.send_more(to)?;
        send!(to, decides, decide, self.decided, self.commits);
        send!(to, aborts, abort, self.aborted);
        send!(to, !self.forgotten.is_empty(), prune, self.forgotten);
        Ok(())
    }

    fn send_trims<'a>(&'a self, to: &mut Sending<'a>) -> Result<(), Failure> {
        let trims = !self.trimmed.0.is_empty();
        send!(to, trims, trim, self.trimmed.0, self.trimmed.1);
        send!(to, trims, trim_tags, self.trimmed.0, self.trimmed.1);
        Ok(())
    }

    /// Whether there is something to do that most transactions do not.
    fn has_more(&self) -> bool {
        let has_tags = !self.tags.tags.is_empty();
        let has_snapshots = !self.dropped_snapshots.0.is_empty() || !self.snapshots.seqs.is_empty();
        let has_notes = !self.removed_notes.0.is_empty() || !self.notes.keys.is_empty();
        let forgets = !self.trimmed.0.is_empty() || !self.forgets_notes.is_empty();
        has_tags || has_snapshots || has_notes || forgets
    }

    fn send_more<'a>(&'a self, to: &mut Sending<'a>) -> Result<(), Failure> {
        let new = &self.tags;
        let has_tags = !new.tags.is_empty();
        send!(to, has_tags, tags, new.tags, new.back, new.entities, new.seqs, new.kinds);
        let dropped = &self.dropped_snapshots;
        send!(to, !dropped.0.is_empty(), drop_snapshots, dropped.0, dropped.1);
        let new = &self.snapshots;
        let has_snapshots = !new.seqs.is_empty();
        send!(
            to,
            has_snapshots,
            snapshots,
            new.entities,
            new.seqs,
            new.hashes,
            new.names,
            new.versions,
            new.payloads,
            new.sums
        );
        send!(to, has_snapshots, old_snapshots, new.entities, SNAPSHOTS as i64);
        let forgetting = &self.forgets_notes;
        let kept = i16::from(NoteKind::Outgoing.get());
        send!(to, !forgetting.is_empty(), forget_notes, forgetting, kept);
        let removed = &self.removed_notes;
        send!(to, !removed.0.is_empty(), remove_notes, removed.0, removed.1, removed.2);
        let new = &self.notes;
        send!(
            to,
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
        Ok(())
    }
}
