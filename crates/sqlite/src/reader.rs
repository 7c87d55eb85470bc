//! The thread that reads.

use std::fmt::{self, Debug, Formatter};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use coact_persist::{
    EntityId, EntitySummary, LogEntry, LogQuery, Note, NoteQuery, Position, Seq, Snapshot,
    StoreCallback, StoreError, StoreReader, StoredEvent, wait,
};
use rusqlite::Connection;

use crate::backup_error::BackupError;
use crate::callback;
use crate::check::{self, Irregularity};
use crate::failure;
use crate::files::{
    JOURNAL, OpenedFiles, PART, RESTORED, WAL, beside, open_error_from_io, remove, sync_folder,
    whole_name_to_read, whole_name_to_write,
};
use crate::open_error::OpenError;
use crate::owner_lock::OwnerLock;
use crate::read;
use crate::reader_gate::ReaderGate;
use crate::request_thread::RequestThread;
use crate::schema::{SchemaFormat, open_to_read, open_unshared};

/// Reads a store in an SQLite file: for tools, even while another process has the file.
///
/// ```
/// use coact_persist::{StoreReader, wait};
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
    /// `None` if the file cannot be replaced while it is read.
    place: Option<Arc<OpenedFiles>>,
    format: SchemaFormat,
    thread: RequestThread<ReaderRequest>,
}

impl Debug for SqliteReader {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteReader").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A request to the thread.
enum ReaderRequest {
    Read(ReadJob),
    /// Closes the connection, and drops the sender.
    Close(Sender<()>),
}

/// Called with the connection, or an error once it is closed.
type ReadJob = Box<dyn FnOnce(Result<&Connection, StoreError>) + Send>;

fn serve(connection: Connection, queries: &Receiver<ReaderRequest>, gate: Option<&ReaderGate>) {
    let mut connection = Some(connection);
    // Serves on after a close, so that each query is answered.
    for query in queries {
        match query {
            ReaderRequest::Read(read) => {
                let _reading = gate.map(ReaderGate::enter);
                read(connection.as_ref().ok_or(StoreError::Closed));
            }
            ReaderRequest::Close(closed) => {
                connection = None;
                drop(closed);
            }
        }
    }
}

impl SqliteReader {
    /// Opens a file of this or an earlier version. If another file replaces it later, reads fail
    /// (`StoreError::Unavailable`), unless the reader is [frozen](Self::freeze): then open the new
    /// one.
    ///
    /// # Errors
    /// Fails if the file does not exist, is not a store, or has a later version, and if the system
    /// reports an error.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = whole_name_to_read(path.as_ref())?;
        let place = OpenedFiles::of_reader(&path)?;
        let opened = open_to_read(&path);
        // If the file was replaced meanwhile, the connection may have the old file with the WAL of
        // the new one, or without its own.
        if place.check().is_err() {
            return Err(OpenError::Restoring { path });
        }
        Self::start(path, Some(place), opened?, None)
    }

    /// For the file's owner, since no one else replaces the file.
    pub(crate) fn open_as_owner(path: &Path, gate: Arc<ReaderGate>) -> Result<Self, OpenError> {
        Self::start(path.to_owned(), None, open_to_read(path)?, Some(gate))
    }

    /// Opens a file that no one changes: without locks, and without files beside it, so that its
    /// folder may be read-only. While a store has the file, reads are wrong or fail.
    ///
    /// # Errors
    /// See [`open`](Self::open). Also fails if there is a `-wal` with commits, which would be
    /// missed.
    pub fn open_immutable(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = whole_name_to_read(path.as_ref())?;
        if fs::metadata(beside(&path, WAL)).is_ok_and(|wal| wal.len() > 0) {
            return Err(OpenError::NotImmutable { path });
        }
        let opened = open_unshared(&path)?;
        Self::start(path, None, opened, None)
    }

    fn start(
        path: PathBuf,
        place: Option<OpenedFiles>,
        (connection, format): (Connection, SchemaFormat),
        gate: Option<Arc<ReaderGate>>,
    ) -> Result<Self, OpenError> {
        let serve = move |queries| serve(connection, &queries, gate.as_deref());
        let thread = RequestThread::start("coact-sqlite-read", serve)
            .map_err(|error| open_error_from_io(&path, error))?;
        Ok(Self { path, place: place.map(Arc::new), format, thread })
    }

    /// From now on shows the present commits, and no later ones, until it is dropped. It does not
    /// delay an owner, but the owner's `-wal` grows meanwhile. (A file that is not in WAL mode,
    /// such as a copy made by `VACUUM INTO`, keeps showing the latest commits: there, this would
    /// delay its owner.)
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn freeze(&self) -> Result<(), StoreError> {
        let freeze = |connection: &Connection| {
            if !connection.is_autocommit() {
                return Ok(());
            }
            // A transaction begins with its first read, which is also the first to see a new WAL.
            connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")?;
            let mode: String =
                connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
            if mode == "wal" { Ok(()) } else { connection.execute_batch("COMMIT") }
        };
        wait(|done| self.ask(freeze, failure::to_store_error, done))
    }

    /// Looks for damage beyond what reads of each entity show. Reads the whole file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn check(&self) -> Result<Vec<Irregularity>, StoreError> {
        let format = self.format;
        wait(|done| {
            self.ask(
                move |connection| check::check(connection, format),
                failure::to_store_error,
                done,
            )
        })
    }

    /// Copies the present commits to another file, which is a store, and must not exist yet. An
    /// owner may go on meanwhile.
    ///
    /// Until it is complete, the copy has the name `copy.db.coact-part`; the next backup overwrites
    /// one that was interrupted. [`SqliteStore::restore`](crate::SqliteStore::restore) replaces a
    /// file by its backup.
    ///
    /// # Errors
    /// The file cannot be read, or the other one exists or cannot be written. Then no new file is
    /// left.
    pub fn back_up(&self, to: impl AsRef<Path>) -> Result<(), BackupError> {
        let path = to.as_ref();
        let io = |error| BackupError::Io { path: path.to_owned(), error };
        let exists = |path: &Path| Err(BackupError::Exists { path: path.to_owned() });
        if fs::symlink_metadata(path).is_ok() {
            return exists(path);
        }
        let to = whole_name_to_write(path).map_err(BackupError::Target)?;
        // Keeps stores from opening the copy before it is complete, and other backups from writing
        // to it.
        let _lock = OwnerLock::take(&to).map_err(BackupError::Target)?;
        // Otherwise it would be taken for a part of the copy.
        let is_left = |other: &PathBuf| fs::metadata(other).is_ok_and(|file| file.len() > 0);
        if let Some(left) =
            [WAL, JOURNAL, RESTORED].map(|end| beside(&to, end)).iter().find(|it| is_left(it))
        {
            return exists(left);
        }
        let part = beside(&to, PART);
        self.copy_to(&part)?;
        let placed = match give_name(&part, &to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => exists(path),
            placed => placed.map_err(io),
        };
        let _ = fs::remove_file(&part);
        placed.and_then(|()| sync_folder(&to).map_err(io))
    }

    /// Closes the connection after all earlier requests. The receiver disconnects when it is
    /// closed.
    pub(crate) fn close(&self) -> Receiver<()> {
        let (closed, told) = channel();
        self.thread.ask(ReaderRequest::Close(closed));
        told
    }

    /// The absolute name of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Copies the store to a file that no one else has, and flushes it.
    pub(crate) fn copy_to(&self, path: &Path) -> Result<(), BackupError> {
        let io = |error| BackupError::Io { path: path.to_owned(), error };
        let name = path.to_str().ok_or_else(|| BackupError::NotUtf8 { path: path.to_owned() })?;
        // On a connection of its own: this one may be frozen.
        let opened = self.is_in_place().and(open_to_read(&self.path).map_err(BackupError::Open));
        self.is_in_place()?;
        let (connection, _) = opened?;
        remove(path).map_err(BackupError::Target)?;
        let copied = connection.execute("VACUUM INTO ?1", [name]);
        let copied = copied.map_err(|error| BackupError::Copy(failure::to_store_error(&error)));
        let copied = self.is_in_place().and(copied);
        // SQLite need not have flushed it.
        let sync = || {
            File::options().write(true).open(path)?.sync_all()?;
            sync_folder(path)
        };
        let done = copied.and_then(|_| sync().map_err(io));
        if done.is_err() {
            // A partial copy is useless.
            let _ = fs::remove_file(path);
        }
        done
    }

    fn is_in_place(&self) -> Result<(), BackupError> {
        let replaced = |_| BackupError::Replaced { path: self.path.clone() };
        self.place.as_ref().map_or(Ok(()), |place| place.check().map_err(replaced))
    }

    fn ask<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        failed: impl FnOnce(&rusqlite::Error) -> StoreError + Send + 'static,
        done: StoreCallback<Result<T, StoreError>>,
    ) {
        let place = self.place.clone();
        self.thread.ask(ReaderRequest::Read(Box::new(move |connection| {
            let answer = connection.and_then(|connection| {
                in_place(place.as_deref(), connection, || {
                    query(connection).map_err(|error| failed(&error))
                })
            });
            callback::tell(done, answer);
        })));
    }
}

/// Reads a file if it still is the one that was opened: otherwise a file without a WAL would be
/// read with a newer WAL beside it. (A frozen reader has all it needs.)
fn in_place<T>(
    place: Option<&OpenedFiles>,
    connection: &Connection,
    read: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let Some(place) = place.filter(|_| connection.is_autocommit()) else { return read() };
    place.check()?;
    let answer = read();
    place.check()?;
    answer
}

/// Gives a file an unused name, while others may race for it. The file keeps its old name as well,
/// or loses it.
fn give_name(file: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(file, name) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {}
        linked => return linked,
    }
    // For file systems without hard links.
    File::create_new(name)?;
    let renamed = fs::rename(file, name);
    if renamed.is_err() {
        let _ = fs::remove_file(name);
    }
    renamed
}

impl StoreReader for SqliteReader {
    fn events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
    ) {
        let of = entity.clone();
        let failed = move |error: &_| failure::to_entity_error(&of, after.next(), error);
        let format = self.format;
        self.ask(
            move |connection| read::events(connection, format, &entity, after, most),
            failed,
            done,
        );
    }

    fn snapshots(&self, entity: EntityId, done: StoreCallback<Result<Vec<Snapshot>, StoreError>>) {
        let of = entity.clone();
        let failed = move |error: &_| failure::to_entity_error(&of, Seq::ZERO, error);
        let format = self.format;
        self.ask(move |connection| read::snapshots(connection, format, &entity), failed, done);
    }

    fn notes(
        &self,
        which: NoteQuery,
        most: usize,
        done: StoreCallback<Result<Vec<Note>, StoreError>>,
    ) {
        let format = self.format;
        if !format.has_notes() {
            return callback::tell(done, Ok(Vec::new()));
        }
        self.ask(
            move |connection| read::notes(connection, format, &which, most),
            failure::to_store_error,
            done,
        );
    }

    fn log(
        &self,
        which: LogQuery,
        after: Position,
        most: usize,
        done: StoreCallback<Result<Vec<LogEntry>, StoreError>>,
    ) {
        let format = self.format;
        if matches!(which, LogQuery::Tag { .. }) && !format.has_tags() {
            return callback::tell(done, Ok(Vec::new()));
        }
        self.ask(
            move |connection| read::log(connection, format, &which, after, most),
            failure::to_store_error,
            done,
        );
    }

    fn entities(
        &self,
        kind: Option<Arc<str>>,
        after: Option<EntityId>,
        most: usize,
        done: StoreCallback<Result<Vec<EntitySummary>, StoreError>>,
    ) {
        let has_notes = self.format.has_notes();
        self.ask(
            move |connection| {
                read::entities(connection, kind.as_deref(), after.as_ref(), most, has_notes)
            },
            failure::to_store_error,
            done,
        );
    }
    fn position(&self, done: StoreCallback<Result<Position, StoreError>>) {
        self.ask(read::position, failure::to_store_error, done);
    }
}
