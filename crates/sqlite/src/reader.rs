//! A thread that reads.

use std::fmt::{self, Debug, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use coact_persist::{
    Done, EntityId, LogEntry, Note, Notes, Position, Reader, Seq, Snapshot, StoreError,
    StoredEvent, Summary,
};
use rusqlite::Connection;

use crate::callback;
use crate::failure;
use crate::open_error::OpenError;
use crate::read;
use crate::schema::open_to_read;
use crate::serving::Serving;

/// A store in an SQLite file, to be read only: for tools, also while another process has it.
///
/// ```
/// use coact_persist::{Reader, wait};
/// use coact_sqlite::{SqliteReader, SqliteStore};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("bank.db");
/// let store = SqliteStore::open(&path)?;
/// let reader = SqliteReader::open(&path)?;
/// assert_eq!(wait(|done| reader.entities(None, None, 10, done))?, []);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SqliteReader {
    path: PathBuf,
    /// Version 1 has none.
    has_notes: bool,
    thread: Serving<Query>,
}

impl Debug for SqliteReader {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteReader").field("path", &self.path).finish_non_exhaustive()
    }
}

/// What the thread is asked.
type Query = Box<dyn FnOnce(&Connection) + Send>;

impl SqliteReader {
    /// Opens a file, which may be one of an earlier version.
    ///
    /// # Errors
    /// Fails if it is not there, is not one of a store, or one of a later version, and if the system refuses it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref().to_owned();
        let (connection, version) = open_to_read(&path)?;
        let serve = move |jobs: Receiver<Query>| {
            jobs.into_iter().for_each(|query| query(&connection));
        };
        let thread = Serving::start("coact-sqlite-read", serve)
            .map_err(|error| OpenError::Io { path: path.clone(), error })?;
        Ok(Self { path, has_notes: version > 1, thread })
    }

    fn ask<T: 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        failed: impl FnOnce(&rusqlite::Error) -> StoreError + Send + 'static,
        done: Done<Result<T, StoreError>>,
    ) {
        self.thread.ask(Box::new(move |connection| {
            callback::tell(done, query(connection).map_err(|error| failed(&error)));
        }));
    }
}

impl Reader for SqliteReader {
    fn events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: Done<Result<Vec<StoredEvent>, StoreError>>,
    ) {
        let of = entity.clone();
        let failed = move |error: &_| failure::of_entity(&of, after.next(), error);
        self.ask(move |connection| read::events(connection, &entity, after, most), failed, done);
    }

    fn snapshots(&self, entity: EntityId, done: Done<Result<Vec<Snapshot>, StoreError>>) {
        let of = entity.clone();
        let failed = move |error: &_| failure::of_entity(&of, Seq::ZERO, error);
        self.ask(move |connection| read::snapshots(connection, &entity), failed, done);
    }

    fn notes(&self, which: Notes, most: usize, done: Done<Result<Vec<Note>, StoreError>>) {
        if !self.has_notes {
            return callback::tell(done, Ok(Vec::new()));
        }
        self.ask(move |connection| read::notes(connection, &which, most), failure::of_store, done);
    }

    fn log(
        &self,
        kind: Arc<str>,
        after: Position,
        most: usize,
        done: Done<Result<Vec<LogEntry>, StoreError>>,
    ) {
        self.ask(
            move |connection| read::log(connection, &kind, after, most),
            failure::of_store,
            done,
        );
    }

    fn entities(
        &self,
        kind: Option<Arc<str>>,
        after: Option<EntityId>,
        most: usize,
        done: Done<Result<Vec<Summary>, StoreError>>,
    ) {
        self.ask(
            move |connection| read::entities(connection, kind.as_deref(), after.as_ref(), most),
            failure::of_store,
            done,
        );
    }
}
