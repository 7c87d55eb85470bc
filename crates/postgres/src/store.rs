//! The store, and what only reads: handles to the thread that does the work.

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
use crate::job::{Job, Write};
use crate::reader::{Read, Reader};
use crate::settings::Settings;
use crate::thread::Thread;
use crate::writer::Writer;

/// The most bytes of a commit. (For a message of twice that the server would cut the connection.)
const MOST: usize = 512 << 20;

/// A store in a schema of a PostgreSQL database. Several processes may use one at a time.
///
/// Dropping it waits until all is stored that was submitted, or is known not to be.
pub struct PostgresStore {
    // (In this order: the thread ends when these are gone.)
    writes: UnboundedSender<Job<(Write, usize)>>,
    reader: Asked,
    thread: Thread,
}

/// What reads a store, and cannot change it: for tools. It takes no locks.
pub struct PostgresReader {
    asked: Asked,
    _thread: Thread,
}

/// The reading half.
struct Asked {
    reads: UnboundedSender<Job<Read>>,
    /// Which database and schema.
    place: String,
}

impl Asked {
    fn ask(&self, read: Read) {
        if let Err(SendError(Job::Do(read))) = self.reads.send(Job::Do(read)) {
            read.refuse(&StoreError::Closed);
        }
    }
}

fn place(settings: &Settings) -> String {
    let Settings { address, schema, .. } = settings;
    format!("{}/{}, schema {schema}", address.server, address.database())
}

impl PostgresStore {
    pub(crate) fn start(settings: Settings) -> Result<Self, ConnectError> {
        let (writes, to_write) = unbounded_channel();
        let (reads, to_read) = unbounded_channel();
        let reader = Asked { reads, place: place(&settings) };
        let thread = Thread::start(async move || {
            let writer = Writer::open(settings.clone(), to_write).await?;
            let reader = Reader::open(settings, to_read).await?;
            Ok(async {
                tokio::join!(writer.run(), reader.run());
            })
        })?;
        Ok(Self { writes, reader, thread })
    }

    fn ask(&self, write: Write) {
        let size = write.size();
        if size > MOST {
            let why = format!("a commit has {size} bytes, and the store takes {MOST}");
            return write.refuse(&StoreError::Unavailable { why });
        }
        if let Err(SendError(Job::Do((write, _)))) = self.writes.send(Job::Do((write, size))) {
            write.refuse(&StoreError::Closed);
        }
    }
}

impl PostgresReader {
    pub(crate) fn start(settings: Settings) -> Result<Self, ConnectError> {
        let (reads, to_read) = unbounded_channel();
        let asked = Asked { reads, place: place(&settings) };
        let thread = Thread::start(async move || {
            let reader = Reader::open(settings, to_read).await?;
            Ok(reader.run())
        })?;
        Ok(Self { asked, _thread: thread })
    }
}

impl coact_persist::StoreReader for Asked {
    fn events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
    ) {
        self.ask(Read::Events { entity, after, most, done });
    }

    fn snapshots(&self, entity: EntityId, done: StoreCallback<Result<Vec<Snapshot>, StoreError>>) {
        self.ask(Read::Snapshots { entity, done });
    }

    fn notes(
        &self,
        which: NoteQuery,
        most: usize,
        done: StoreCallback<Result<Vec<Note>, StoreError>>,
    ) {
        self.ask(Read::Notes { which, most, done });
    }

    fn log(
        &self,
        which: LogQuery,
        after: Position,
        most: usize,
        done: StoreCallback<Result<Vec<LogEntry>, StoreError>>,
    ) {
        self.ask(Read::Log { which, after, most, done });
    }

    fn entities(
        &self,
        kind: Option<Arc<str>>,
        after: Option<EntityId>,
        most: usize,
        done: StoreCallback<Result<Vec<EntitySummary>, StoreError>>,
    ) {
        self.ask(Read::Entities { kind, after, most, done });
    }

    fn position(&self, done: StoreCallback<Result<Position, StoreError>>) {
        self.ask(Read::Position { done });
    }
}

/// Passes what is read on to the reading half.
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
        self.ask(Write::Claim(entity, done));
    }

    fn commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        self.ask(Write::Commit(commit, done));
    }

    fn settle(&self, commit: CommitId, done: StoreCallback<Result<CommitSettlement, StoreError>>) {
        self.ask(Write::Settle(commit, done));
    }

    fn close(&self, done: StoreCallback<()>) {
        self.thread.at_end(done);
        // (They fail if it is closed.)
        let _ = self.writes.send(Job::Close);
        let _ = self.reader.reads.send(Job::Close);
    }
}
