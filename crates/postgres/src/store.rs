//! The store and its reader: queues to the thread that does the work.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use coact_persist::{
    Claim, Commit, CommitId, CommitSettlement, EntityId, EntitySummary, LogEntry, LogQuery, Note,
    NoteQuery, Position, Seq, Snapshot, Store, StoreCallback, StoreError, StoreOutcome,
    StoredEvent,
};
use tokio::sync::mpsc::error::SendError;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::connect_error::ConnectError;
use crate::connection_settings::ConnectionSettings;
use crate::reader::{ReadRequest, StoreReader};
use crate::request::{StoreRequest, WriteRequest};
use crate::store_thread::StoreThread;
use crate::writer::StoreWriter;

/// The most bytes of a commit. (The server cuts the connection on a message of twice that.)
const MOST: usize = 512 << 20;

/// A store in a schema of a PostgreSQL database. Several processes may use one schema at a time.
///
/// Dropping it blocks until every submitted commit has its outcome.
pub struct PostgresStore {
    // (Declared in this order: the thread ends when the queues are gone.)
    writes: UnboundedSender<StoreRequest<(WriteRequest, usize)>>,
    reader: ReadQueue,
    thread: StoreThread,
}

/// Reads a store and cannot change it: for tools. It takes no locks.
pub struct PostgresReader {
    asked: ReadQueue,
    _thread: StoreThread,
}

/// The queue of reads.
struct ReadQueue {
    reads: UnboundedSender<StoreRequest<ReadRequest>>,
    /// The database and schema, for messages.
    place: String,
}

impl ReadQueue {
    fn ask(&self, read: ReadRequest) {
        if let Err(SendError(StoreRequest::Do(read))) = self.reads.send(StoreRequest::Do(read)) {
            read.refuse(&StoreError::Closed);
        }
    }
}

fn place(settings: &ConnectionSettings) -> String {
    let ConnectionSettings { address, schema, .. } = settings;
    format!("{}/{}, schema {schema}", address.server, address.database())
}

impl PostgresStore {
    pub(crate) fn start(settings: ConnectionSettings) -> Result<Self, ConnectError> {
        let (writes, to_write) = unbounded_channel();
        let (reads, to_read) = unbounded_channel();
        let reader = ReadQueue { reads, place: place(&settings) };
        let thread = StoreThread::start(async move || {
            let writer = StoreWriter::open(settings.clone(), to_write).await?;
            let reader = StoreReader::open(settings, to_read).await?;
            Ok(async {
                tokio::join!(writer.run(), reader.run());
            })
        })?;
        Ok(Self { writes, reader, thread })
    }

    fn ask(&self, write: WriteRequest) {
        let size = write.size();
        if size > MOST {
            let why = format!("a commit has {size} bytes, and the store takes {MOST}");
            return write.refuse(&StoreError::Unavailable { why });
        }
        if let Err(SendError(StoreRequest::Do((write, _)))) =
            self.writes.send(StoreRequest::Do((write, size)))
        {
            write.refuse(&StoreError::Closed);
        }
    }
}

impl PostgresReader {
    pub(crate) fn start(settings: ConnectionSettings) -> Result<Self, ConnectError> {
        let (reads, to_read) = unbounded_channel();
        let asked = ReadQueue { reads, place: place(&settings) };
        let thread = StoreThread::start(async move || {
            let reader = StoreReader::open(settings, to_read).await?;
            Ok(reader.run())
        })?;
        Ok(Self { asked, _thread: thread })
    }
}

impl coact_persist::StoreReader for ReadQueue {
    fn events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
    ) {
        self.ask(ReadRequest::Events { entity, after, most, done });
    }

    fn snapshots(&self, entity: EntityId, done: StoreCallback<Result<Vec<Snapshot>, StoreError>>) {
        self.ask(ReadRequest::Snapshots { entity, done });
    }

    fn notes(
        &self,
        which: NoteQuery,
        most: usize,
        done: StoreCallback<Result<Vec<Note>, StoreError>>,
    ) {
        self.ask(ReadRequest::Notes { which, most, done });
    }

    fn log(
        &self,
        which: LogQuery,
        after: Position,
        most: usize,
        done: StoreCallback<Result<Vec<LogEntry>, StoreError>>,
    ) {
        self.ask(ReadRequest::Log { which, after, most, done });
    }

    fn entities(
        &self,
        kind: Option<Arc<str>>,
        after: Option<EntityId>,
        most: usize,
        done: StoreCallback<Result<Vec<EntitySummary>, StoreError>>,
    ) {
        self.ask(ReadRequest::Entities { kind, after, most, done });
    }

    fn position(&self, done: StoreCallback<Result<Position, StoreError>>) {
        self.ask(ReadRequest::Position { done });
    }
}

/// Forwards reads to the queue.
macro_rules! reads {
    ($store:ident, $half:ident) => {
        impl coact_persist::StoreReader for $store {
            fn events(
                &self,
                entity: EntityId,
                after: Seq,
                most: usize,
                done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
            ) {
                self.$half.events(entity, after, most, done);
            }

            fn snapshots(
                &self,
                entity: EntityId,
                done: StoreCallback<Result<Vec<Snapshot>, StoreError>>,
            ) {
                self.$half.snapshots(entity, done);
            }

            fn notes(
                &self,
                which: NoteQuery,
                most: usize,
                done: StoreCallback<Result<Vec<Note>, StoreError>>,
            ) {
                self.$half.notes(which, most, done);
            }

            fn log(
                &self,
                which: LogQuery,
                after: Position,
                most: usize,
                done: StoreCallback<Result<Vec<LogEntry>, StoreError>>,
            ) {
                self.$half.log(which, after, most, done);
            }

            fn entities(
                &self,
                kind: Option<Arc<str>>,
                after: Option<EntityId>,
                most: usize,
                done: StoreCallback<Result<Vec<EntitySummary>, StoreError>>,
            ) {
                self.$half.entities(kind, after, most, done);
            }

            fn position(&self, done: StoreCallback<Result<Position, StoreError>>) {
                self.$half.position(done);
            }
        }

        impl Debug for $store {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                let place = &self.$half.place;
                f.debug_struct(stringify!($store)).field("place", place).finish_non_exhaustive()
            }
        }
    };
}

reads!(PostgresStore, reader);
reads!(PostgresReader, asked);

impl Store for PostgresStore {
    fn claim(&self, entity: EntityId, done: StoreCallback<Result<Claim, StoreError>>) {
        self.ask(WriteRequest::Claim(entity, done));
    }

    fn commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        self.ask(WriteRequest::Commit(commit, done));
    }

    fn settle(&self, commit: CommitId, done: StoreCallback<Result<CommitSettlement, StoreError>>) {
        self.ask(WriteRequest::Settle(commit, done));
    }

    fn close(&self, done: StoreCallback<()>) {
        self.thread.at_end(done);
        // (Fails if the store is closed.)
        let _ = self.writes.send(StoreRequest::Close);
        let _ = self.reader.reads.send(StoreRequest::Close);
    }
}
