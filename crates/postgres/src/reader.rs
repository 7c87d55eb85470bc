//! Serves reads, on a connection of their own.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use coact_persist::{
    EntityId, EntitySummary, Epoch, EventHash, LogEntry, LogQuery, Note, NoteKey, NoteKind,
    NoteQuery, Position, Seq, Snapshot, StoreCallback, StoreError, StoredEvent,
};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;
use tokio_postgres::{Error, Row};

use crate::connect_error::ConnectError;
use crate::connection_settings::{AccessMode, ConnectionSettings};
use crate::prepared_statements::prepared_statements;
use crate::reconnect::{PreparedSession, ReconnectingSession};
use crate::request::{StoreRequest, tell};
use crate::row::{checksum, event, number, saturate_to_signed, snapshot, stored, text, to_signed};
use crate::schema::{self, SchemaFormat, TableSetup};
use crate::session::{Session, StatementPipeline, of_failure};
use crate::statement_failure::{FailureKind, StatementFailure};

/// The most reads in flight.
const BATCH: usize = 64;

/// A request to read.
pub(crate) enum ReadRequest {
    Events {
        entity: EntityId,
        after: Seq,
        most: usize,
        done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
    },
    Snapshots {
        entity: EntityId,
        done: StoreCallback<Result<Vec<Snapshot>, StoreError>>,
    },
    Notes {
        which: NoteQuery,
        most: usize,
        done: StoreCallback<Result<Vec<Note>, StoreError>>,
    },
    Log {
        which: LogQuery,
        after: Position,
        most: usize,
        done: StoreCallback<Result<Vec<LogEntry>, StoreError>>,
    },
    Entities {
        kind: Option<Arc<str>>,
        after: Option<EntityId>,
        most: usize,
        done: StoreCallback<Result<Vec<EntitySummary>, StoreError>>,
    },
    Position {
        done: StoreCallback<Result<Position, StoreError>>,
    },
}

/// A session that reads.
pub(crate) struct ReadSession {
    session: Session,
    statements: ReadStatements,
    tags: Option<TagStatements>,
}

/// The row number of an entity, given its kind and key.
macro_rules! entity {
    () => {
        "(SELECT e.id FROM kind k JOIN entity e ON e.kind = k.id WHERE sha256(k.name) = sha256($1::bytea)
          AND substr(e.key, 1, 512) = substr($2::bytea, 1, 512) AND sha256(e.key) = sha256($2::bytea))"
    };
}

/// A note with its entity. The arguments are the rest of the query.
macro_rules! notes {
    ($($rest:expr),+) => {
        concat!(
            "SELECT k.name, e.key, o.kind, o.key, o.rank, o.name, o.version, o.payload, {note_sum}
             FROM note o JOIN entity e ON e.id = o.entity JOIN kind k ON k.id = e.kind ",
            $($rest),+
        )
    };
}

/// The log of a tag, with conditions for the rows of `tag` that it returns, and for those that it
/// counts.
macro_rules! tagged {
    ($meant:expr, $counted:expr) => {
        concat!(
            "SELECT {event}, e.key, k.name FROM tag g
             JOIN event v ON v.entity = g.entity AND v.seq = g.seq AND v.position = g.position
             JOIN entity e ON e.id = g.entity JOIN kind k ON k.id = e.kind
             WHERE g.tag = $1::bytea AND g.position > $2::int8",
            $meant,
            " AND g.position <= coalesce((SELECT w.position FROM tag w WHERE w.tag = $1::bytea AND w.position > $2::int8",
            $counted,
            " ORDER BY w.position OFFSET $3::int8 - 1 LIMIT 1), 9223372036854775807)
             ORDER BY g.position, k.name, e.key, g.seq"
        )
    };
}

prepared_statements! {
    struct ReadStatements {
        events: concat!(
            "SELECT {event} FROM event v
             WHERE v.entity = ",
            entity!(),
            " AND v.seq > $3::int8 ORDER BY v.seq LIMIT $4::int8"
        ),
        snapshots: concat!(
            "SELECT s.seq, s.hash, s.name, s.version, s.payload, {snapshot_sum} FROM snapshot s
             WHERE s.entity = ",
            entity!(),
            " ORDER BY s.seq DESC"
        ),
        note: notes!(
            "WHERE o.entity = ",
            entity!(),
            " AND o.kind = $3::int2 AND substr(o.key, 1, 512) = substr($4::bytea, 1, 512)
             AND sha256(o.key) = sha256($4::bytea) LIMIT $5::int8"
        ),
        notes_of: notes!(
            "WHERE o.entity = ",
            entity!(),
            " AND (o.kind, substr(o.key, 1, 512), o.key) > ($3::int2, substr($4::bytea, 1, 512), $4::bytea)
             ORDER BY o.kind, substr(o.key, 1, 512), o.key LIMIT $5::int8"
        ),
        /// Bounded by the rank of the last requested note, counted from the first rank: so the sort
        /// stays small whatever the table's statistics are.
        notes_ranked: notes!(
            "WHERE o.kind = $1::int2 AND o.rank >= $2::int8 AND o.rank <= coalesce((SELECT p.rank FROM note p
                WHERE p.kind = $1::int2 AND p.rank > $2::int8 AND p.rank <= $3::int8
                ORDER BY p.rank OFFSET greatest($7::int8 - 1, 0) LIMIT 1), $3::int8)
             AND (o.rank, k.name, e.key, o.key) > ($2::int8, $4::bytea, $5::bytea, $6::bytea)
             ORDER BY o.rank, k.name, e.key, o.key LIMIT $7::int8"
        ),
        /// Whole commits, up to that of the last requested event.
        log: "SELECT {event}, e.key
         FROM event v JOIN entity e ON e.id = v.entity
         WHERE v.kind = (SELECT k.id FROM kind k WHERE sha256(k.name) = sha256($1::bytea))
         AND v.position > $2::int8 AND v.position <= coalesce((SELECT w.position FROM event w
            WHERE w.kind = (SELECT k.id FROM kind k WHERE sha256(k.name) = sha256($1::bytea)) AND w.position > $2::int8
            ORDER BY w.position OFFSET $3::int8 - 1 LIMIT 1), 9223372036854775807)
         ORDER BY v.position, e.key, v.seq",
        /// Kind by kind, each from a key on: the requested one in the first kind.
        entities: "SELECT k.name, e.key, e.epoch, e.last, e.hash FROM kind k CROSS JOIN LATERAL
            (SELECT * FROM entity e WHERE e.kind = k.id
             AND (e.last <> 0 OR EXISTS (SELECT FROM note o WHERE o.entity = e.id))
             AND (substr(e.key, 1, 512), e.key, 1) >
                (CASE WHEN k.name = $2::bytea THEN substr($3::bytea, 1, 512) ELSE ''::bytea END,
                 CASE WHEN k.name = $2::bytea THEN $3::bytea ELSE ''::bytea END,
                 CASE WHEN k.name = $2::bytea THEN $4::int4 ELSE 0 END)
             ORDER BY substr(e.key, 1, 512), e.key LIMIT $5::int8) e
         WHERE k.name >= $2::bytea AND ($1::bytea IS NULL OR k.name = $1::bytea)
         ORDER BY k.name, e.key LIMIT $5::int8",
        position: "SELECT {last} FROM counter",
    }
}

macro_rules! of_kind {
    ($row:expr) => {
        concat!(
            " AND ",
            $row,
            ".kind = (SELECT i.id FROM kind i WHERE sha256(i.name) = sha256($4::bytea))"
        )
    };
}

prepared_statements! {
    /// The logs of tags. (Version 1 has none.)
    struct TagStatements {
        log_of_kind: tagged!(of_kind!("g"), of_kind!("w")),
        log: tagged!("", ""),
    }
}

/// The columns of an event. (Each query looks up once whether there are tags at all.)
const EVENT: &str = "v.seq, v.position, v.hash, v.name, v.version, v.payload, CASE WHEN EXISTS (SELECT FROM tag) THEN
    ARRAY(SELECT t.tag FROM tag t WHERE t.entity = v.entity AND t.seq = v.seq AND t.position = v.position) END";

/// The same in version 1.
const PLAIN_EVENT: &str = "v.seq, v.position, v.hash, v.name, v.version, v.payload, NULL::bytea[]";

impl PreparedSession for ReadSession {
    async fn open(settings: &ConnectionSettings, tables: TableSetup) -> Result<Self, ConnectError> {
        let session = Session::open(settings, AccessMode::Read).await?;
        let format = schema::ready(settings, &session, (AccessMode::Read, tables)).await?;
        let prepared = settings.in_time(async {
            let statements = ReadStatements::prepare(&session, |text| adapt(text, format)).await?;
            let tags = if format.has_tags() {
                Some(TagStatements::prepare(&session, |text| adapt(text, format)).await?)
            } else {
                None
            };
            Ok((statements, tags))
        });
        let prepared = prepared.await.map_err(|failure| of_failure(settings, &failure));
        let (statements, tags) = prepared?;
        Ok(Self { session, statements, tags })
    }

    fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    fn into_session(self) -> Session {
        self.session
    }
}

/// Adapts a text to the version of a schema.
fn adapt(text: &str, format: SchemaFormat) -> String {
    let event = if format.has_tags() { EVENT } else { PLAIN_EVENT };
    let last = if format.has_tags() { "last" } else { "position" };
    let sum = |sum| if format.has_sums() { sum } else { "NULL::int8" };
    let text = text.replace("{event}", event).replace("{last}", last);
    text.replace("{snapshot_sum}", sum("s.sum")).replace("{note_sum}", sum("o.sum"))
}

impl ReadSession {
    async fn query(&self, read: &ReadRequest) -> Result<Vec<Row>, Error> {
        let (client, statements) = (&self.session.client, &self.statements);
        match read {
            ReadRequest::Events { entity, after, most, .. } => {
                let (kind, key) = columns(entity);
                let after = saturate_to_signed(after.get());
                client
                    .query(&statements.events, &[&kind, &key, &after, &saturate_to_signed(*most)])
                    .await
            }
            ReadRequest::Snapshots { entity, .. } => {
                let (kind, key) = columns(entity);
                client.query(&statements.snapshots, &[&kind, &key]).await
            }
            ReadRequest::Notes { which, most, .. } => self.notes(which, *most).await,
            ReadRequest::Log { which, after, most, .. } => {
                self.log(which, saturate_to_signed(after.get()), saturate_to_signed((*most).max(1)))
                    .await
            }
            ReadRequest::Entities { kind, after, most, .. } => {
                let kind = kind.as_ref().map(|kind| kind.as_bytes());
                let (after_kind, after_key) = after.as_ref().map_or((&b""[..], &b""[..]), columns);
                // Whether an entity with this very key is included.
                let is_behind = i32::from(after.is_some());
                client
                    .query(
                        &statements.entities,
                        &[&kind, &after_kind, &after_key, &is_behind, &saturate_to_signed(*most)],
                    )
                    .await
            }
            ReadRequest::Position { .. } => client.query(&statements.position, &[]).await,
        }
    }

    async fn log(&self, which: &LogQuery, after: i64, most: i64) -> Result<Vec<Row>, Error> {
        let (client, statements) = (&self.session.client, &self.statements);
        match (which, &self.tags) {
            (LogQuery::Kind(kind), _) => {
                client.query(&statements.log, &[&kind.as_bytes(), &after, &most]).await
            }
            (LogQuery::Tag { .. }, None) => Ok(Vec::new()),
            (LogQuery::Tag { tag, kind: Some(kind) }, Some(tags)) => {
                let (tag, kind) = (tag.as_bytes(), kind.as_bytes());
                client.query(&tags.log_of_kind, &[&tag, &after, &most, &kind]).await
            }
            (LogQuery::Tag { tag, kind: None }, Some(tags)) => {
                client.query(&tags.log, &[&tag.as_bytes(), &after, &most]).await
            }
        }
    }

    async fn notes(&self, which: &NoteQuery, most: usize) -> Result<Vec<Row>, Error> {
        let (client, statements) = (&self.session.client, &self.statements);
        let most = saturate_to_signed(most);
        match which {
            NoteQuery::One { entity, kind, key } => {
                let (of_kind, of_key) = columns(entity);
                let (kind, key) = (code(*kind), key.as_bytes());
                client.query(&statements.note, &[&of_kind, &of_key, &kind, &key, &most]).await
            }
            NoteQuery::Of { entity, after } => {
                let (of_kind, of_key) = columns(entity);
                let after = after.as_ref();
                let (kind, key) =
                    after.map_or((0, &b""[..]), |(kind, key)| (code(*kind), key.as_bytes()));
                client.query(&statements.notes_of, &[&of_kind, &of_key, &kind, &key, &most]).await
            }
            NoteQuery::Ranked { kind, after, up_to } => {
                let (kind, up_to) = (code(*kind), saturate_to_signed(*up_to));
                // Before all ranks and keys.
                let start = (i64::MIN, (&[][..], &[][..]), &[][..]);
                let after = after.as_ref();
                let (rank, (of_kind, of_key), key) = after.map_or(start, |(rank, entity, key)| {
                    (to_signed(*rank), columns(entity), key.as_bytes())
                });
                client
                    .query(
                        &statements.notes_ranked,
                        &[&kind, &rank, &up_to, &of_kind, &of_key, &key, &most],
                    )
                    .await
            }
        }
    }
}

fn columns(entity: &EntityId) -> (&[u8], &[u8]) {
    (entity.kind().as_bytes(), entity.key().as_bytes())
}

fn code(kind: NoteKind) -> i16 {
    kind.get().into()
}

impl ReadRequest {
    /// Answers with the rows that were found.
    fn tell(self, found: Result<Vec<Row>, StoreError>) {
        match self {
            Self::Events { done, .. } => {
                tell(done, found.map(|rows| rows.iter().map(stored).collect()));
            }
            Self::Snapshots { done, .. } => {
                tell(done, found.map(|rows| rows.iter().map(|row| snapshot(row, 0)).collect()));
            }
            Self::Notes { done, .. } => {
                tell(done, found.and_then(|rows| rows.iter().map(note).collect()));
            }
            Self::Log { which, done, .. } => {
                let entry = |row: &Row| LogEntry {
                    entity: match &which {
                        LogQuery::Kind(kind) => EntityId::new(Arc::clone(kind), text(row, 7)),
                        LogQuery::Tag { .. } => EntityId::new(text(row, 8), text(row, 7)),
                    },
                    stored: stored(row),
                };
                tell(done, found.map(|rows| rows.iter().map(entry).collect()));
            }
            Self::Entities { done, .. } => {
                tell(done, found.map(|rows| rows.iter().map(summary).collect()));
            }
            Self::Position { done } => tell(done, found.and_then(|rows| position(&rows))),
        }
    }

    /// Answers that it was not read.
    pub(crate) fn refuse(self, why: &StoreError) {
        self.tell(Err(why.clone()));
    }
}

fn position(rows: &[Row]) -> Result<Position, StoreError> {
    match rows {
        [row] => Ok(Position::new(number(row, 0))),
        _ => Err(StoreError::Damaged { why: "it has no number of its last commit".into() }),
    }
}

fn summary(row: &Row) -> EntitySummary {
    EntitySummary {
        id: EntityId::new(text(row, 0), text(row, 1)),
        epoch: Epoch::new(number(row, 2)),
        last: Seq::new(number(row, 3)),
        hash: EventHash::from_stored(number(row, 4)),
    }
}

fn note(row: &Row) -> Result<Note, StoreError> {
    let entity = EntityId::new(text(row, 0), text(row, 1));
    let code: i16 = row.get(2);
    let Some(kind) = u8::try_from(code).ok().and_then(NoteKind::from_stored) else {
        let why = format!("it has a note of the kind {code}, which this program does not know");
        return Err(StoreError::Corrupt { entity, seq: Seq::ZERO, why });
    };
    let key = NoteKey::new(row.get::<_, &[u8]>(3));
    let note = Note { entity, kind, key, rank: number(row, 4), value: event(row, 5) };
    note.check(checksum(row, 8))?;
    Ok(note)
}

pub(crate) struct StoreReader {
    session: ReconnectingSession<ReadSession>,
    jobs: UnboundedReceiver<StoreRequest<ReadRequest>>,
    patience: Duration,
}

impl StoreReader {
    pub(crate) async fn open(
        settings: ConnectionSettings,
        jobs: UnboundedReceiver<StoreRequest<ReadRequest>>,
    ) -> Result<Self, ConnectError> {
        let patience = settings.answer_timeout();
        Ok(Self { session: ReconnectingSession::open(settings).await?, jobs, patience })
    }

    /// Serves requests until the queue is closed or dropped.
    pub(crate) async fn run(mut self) {
        loop {
            let first = tokio::select! {
                biased;
                job = self.jobs.recv() => job,
                () = self.session.keep_connected() => continue,
            };
            let Some(first) = first else { break };
            let (all, closes) = self.all_that_waits(first);
            if !all.is_empty() {
                self.read(all).await;
            }
            if closes {
                break;
            }
        }
        self.session.close().await;
        self.jobs.close();
        while let Some(job) = self.jobs.recv().await {
            if let StoreRequest::Do(read) = job {
                read.refuse(&StoreError::Closed);
            }
        }
    }

    /// Takes the waiting requests of one batch. Returns whether the queue was closed behind them.
    fn all_that_waits(&mut self, first: StoreRequest<ReadRequest>) -> (Vec<ReadRequest>, bool) {
        let mut all = Vec::new();
        let mut next = Some(first);
        while let Some(job) = next {
            let StoreRequest::Do(read) = job else { return (all, true) };
            all.push(read);
            next = if all.len() < BATCH { self.jobs.try_recv().ok() } else { None };
        }
        (all, false)
    }

    /// Runs a batch of reads, and answers each when its rows arrive.
    async fn read(&mut self, all: Vec<ReadRequest>) {
        let session = match self.session.get().await {
            Ok(session) => session,
            Err(error) => return all.into_iter().for_each(|read| read.refuse(&error)),
        };
        if let Err(failure) = read_all(session, all, self.patience).await {
            self.session.drop_connection(&failure.to_string());
        }
    }
}

/// Fails if the session cannot be used any more.
async fn read_all(
    session: &ReadSession,
    all: Vec<ReadRequest>,
    patience: Duration,
) -> Result<(), StatementFailure> {
    // (Each query borrows its request until the answer arrives.)
    let all: Vec<Rc<ReadRequest>> = all.into_iter().map(Rc::new).collect();
    let mut pipeline = StatementPipeline::new();
    let mut sent = Vec::with_capacity(all.len());
    for read in &all {
        let read = Rc::clone(read);
        sent.push(pipeline.send(async move { session.query(&read).await }));
    }
    let (mut pipeline, mut over) = (Some(pipeline), Ok(()));
    for (read, sent) in all.into_iter().zip(sent) {
        let found = match (sent, &mut pipeline) {
            (Err(failure), _) => Err(failure),
            (Ok(()), Some(pipeline)) => next(pipeline, patience).await,
            (Ok(()), None) => over.clone().map(|()| Vec::new()),
        };
        if let Err(failure) = &found {
            match failure.kind {
                FailureKind::Lost => (pipeline, over) = (None, Err(failure.clone())),
                FailureKind::Unavailable => over = Err(failure.clone()),
                FailureKind::Collision | FailureKind::Stale | FailureKind::Statement => {}
            }
        }
        if let Some(read) = Rc::into_inner(read) {
            read.tell(found.map_err(|failure| failure.unavailable()));
        }
    }
    over
}

async fn next(
    pipeline: &mut StatementPipeline<'_, Vec<Row>>,
    patience: Duration,
) -> Result<Vec<Row>, StatementFailure> {
    match timeout(patience, pipeline.next()).await {
        Ok(Some(answer)) => answer,
        Ok(None) => unreachable!("there is one answer to each"),
        Err(_) => Err(StatementFailure::late(patience)),
    }
}
