//! The store: a thread that writes, beside the one that reads.

use std::collections::HashSet;
use std::fmt::{self, Debug, Formatter};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use coact_persist::{
    Claim, Commit, CommitId, CommitRefusal, CommitSettlement, EntityId, EntitySummary, LogEntry,
    LogQuery, Note, NoteQuery, Position, Seq, Snapshot, Store, StoreCallback, StoreError,
    StoreOutcome, StoreReader, StoredEvent,
};
use rusqlite::Connection;
use tracing::error;

use crate::batch::{Batch, decision};
use crate::callback;
use crate::checkpoint::{CheckpointSchedule, keep_short};
use crate::entity_cache::EntityCache;
use crate::failure;
use crate::files::{OpenedFiles, open_error_from_io, refuse_hard_links, whole_name_to_write};
use crate::open_error::OpenError;
use crate::owner_lock::OwnerLock;
use crate::reader::SqliteReader;
use crate::reader_gate::ReaderGate;
use crate::request_thread::RequestThread;
use crate::schema::{PATIENCE, open_error_from_sqlite, open_to_read, open_to_write};
use crate::{failed_commit, leftover_wal, restore};

/// The most requests in one transaction.
const BATCH: usize = 1_024;

/// A store in an SQLite file. Dropping it waits until all submitted commits are written.
pub struct SqliteStore {
    path: PathBuf,
    /// Dropped first, so that the writing connection is the last one, which checkpoints the WAL.
    reader: SqliteReader,
    writer: RequestThread<WriterRequest>,
    gate: WriterGate,
    transactions: Arc<AtomicU64>,
}

/// Opens the gate for good when the writer ends.
struct WriterGate(Arc<ReaderGate>);

impl Drop for WriterGate {
    fn drop(&mut self) {
        self.0.remove();
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // First, since the thread that writes ends when nothing can ask it any more, and this may
        // be the one that reads.
        self.gate.0.remove();
    }
}

impl Debug for SqliteStore {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens a file, and creates it if it does not exist.
    ///
    /// # Errors
    /// Fails if another store has the file, if it is not one of a store, or one of a later version,
    /// if the name cannot be that of a store, and if the system refuses it ([`OpenError`] lists
    /// them). In each case it stays as it is.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = whole_name_to_write(path.as_ref())?;
        let lock = OwnerLock::take(&path)?;
        restore::finish(&path)?;
        refuse_hard_links(&path)?;
        let mut connection = open_to_write(&path, true)?;
        leftover_wal::flush_leftover_wal(&mut connection, &path)?;
        keep_short(&connection).map_err(|error| open_error_from_sqlite(&path, error))?;
        let (jobs, asked) = channel();
        let call = jobs.clone();
        let gate = Arc::new(ReaderGate::new(move || drop(call.send(WriterRequest::MakeRoom))));
        let reader = SqliteReader::open_as_owner(&path, Arc::clone(&gate))?;
        let (index, _) = open_to_read(&path)?;
        let io = |error| open_error_from_io(&path, error);
        let writer = StoreWriter {
            _index: index,
            place: OpenedFiles::of_owner(&path)?,
            connection: Some(connection),
            entities: EntityCache::default(),
            checkpoints: CheckpointSchedule::default(),
            path: path.clone(),
            unknown: HashSet::new(),
            transactions: Arc::default(),
            gate: WriterGate(Arc::clone(&gate)),
            is_locked: false,
            _lock: lock,
        };
        let transactions = Arc::clone(&writer.transactions);
        let serve = move |jobs| writer.run(&jobs);
        let writer =
            RequestThread::start_with("coact-sqlite-write", (jobs, asked), serve).map_err(io)?;
        Ok(Self { path, writer, reader, gate: WriterGate(gate), transactions })
    }

    /// Returns how many transactions it has written since it was opened, each with one flush to the
    /// disk: how well it groups commits.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        // ORDERING: Relaxed. It is a count, and publishes nothing.
        self.transactions.load(Ordering::Relaxed)
    }
}

impl SqliteStore {
    /// Puts what is in a [backup](SqliteReader::back_up), or in the file of any other store, in the
    /// place of a file, which need not be there. What is in the `-wal` of the backup, if there is
    /// one, is part of it. What is in the file is gone then, and what is in the `-wal` beside it,
    /// which would spoil the backup.
    ///
    /// It is done wholly or not at all, also if the process ends meanwhile, or the power fails:
    /// when the backup is copied, it has the name `bank.db.coact-restored` for a moment; if it
    /// still has, [`open`](Self::open) does the rest, and a [`SqliteReader`] is refused
    /// ([`OpenError::Restoring`]). It needs as much room as the backup beside what is there.
    ///
    /// # Errors
    /// Fails if a store has the file, if the backup is not one of a store, or damaged, and if the
    /// system refuses it. The file is as it was then, unless the system refuses a step when the
    /// backup is copied: the next one that opens it does the rest.
    pub fn restore(backup: impl AsRef<Path>, path: impl AsRef<Path>) -> Result<(), OpenError> {
        restore::restore(backup.as_ref(), path.as_ref())
    }
}

impl StoreReader for SqliteStore {
    fn events(
        &self,
        entity: EntityId,
        after: Seq,
        most: usize,
        done: StoreCallback<Result<Vec<StoredEvent>, StoreError>>,
    ) {
        self.reader.events(entity, after, most, done);
    }

    fn snapshots(&self, entity: EntityId, done: StoreCallback<Result<Vec<Snapshot>, StoreError>>) {
        self.reader.snapshots(entity, done);
    }

    fn notes(
        &self,
        which: NoteQuery,
        most: usize,
        done: StoreCallback<Result<Vec<Note>, StoreError>>,
    ) {
        self.reader.notes(which, most, done);
    }

    fn log(
        &self,
        which: LogQuery,
        after: Position,
        most: usize,
        done: StoreCallback<Result<Vec<LogEntry>, StoreError>>,
    ) {
        self.reader.log(which, after, most, done);
    }

    fn entities(
        &self,
        kind: Option<Arc<str>>,
        after: Option<EntityId>,
        most: usize,
        done: StoreCallback<Result<Vec<EntitySummary>, StoreError>>,
    ) {
        self.reader.entities(kind, after, most, done);
    }

    fn position(&self, done: StoreCallback<Result<Position, StoreError>>) {
        self.reader.position(done);
    }
}

impl Store for SqliteStore {
    fn claim(&self, entity: EntityId, done: StoreCallback<Result<Claim, StoreError>>) {
        self.writer.ask(WriterRequest::Write(WriteRequest::Claim(entity, done)));
    }

    fn commit(&self, commit: Commit, done: StoreCallback<StoreOutcome>) {
        self.writer.ask(WriterRequest::Write(WriteRequest::Commit(commit, done)));
    }

    fn settle(&self, commit: CommitId, done: StoreCallback<Result<CommitSettlement, StoreError>>) {
        self.writer.ask(WriterRequest::Write(WriteRequest::Settle(commit, done)));
    }

    /// Earlier requests are answered within 5 s for each transaction, unless the disk hangs.
    fn close(&self, done: StoreCallback<()>) {
        self.writer.ask(WriterRequest::Close(CloseRequest { reader: self.reader.close(), done }));
    }
}

/// A request to close, and its callback.
struct CloseRequest {
    /// Disconnects when the reading thread has closed its connection, so that the writing one is
    /// the last.
    reader: Receiver<()>,
    done: StoreCallback<()>,
}

/// A request to the writing thread.
enum WriterRequest {
    Write(WriteRequest),
    /// The reader waits until a checkpoint is done.
    MakeRoom,
    Close(CloseRequest),
}

/// A request that becomes part of a transaction.
enum WriteRequest {
    Claim(EntityId, StoreCallback<Result<Claim, StoreError>>),
    Commit(Commit, StoreCallback<StoreOutcome>),
    Settle(CommitId, StoreCallback<Result<CommitSettlement, StoreError>>),
}

impl WriteRequest {
    /// Maps an error that it met.
    fn failed_by(&self, error: &rusqlite::Error) -> StoreError {
        match self {
            Self::Claim(entity, _) => failure::to_entity_error(entity, Seq::ZERO, error),
            Self::Commit(commit, _) => {
                let mut members = commit.members();
                match (members.next(), members.next()) {
                    (Some((entity, member)), None) => {
                        failure::to_entity_error(entity, member.after(), error)
                    }
                    _ => failure::to_store_error(error),
                }
            }
            Self::Settle(..) => failure::to_store_error(error),
        }
    }

    fn remove_from(&self, unknown: &mut HashSet<CommitId>) {
        match self {
            Self::Settle(id, _) => drop(unknown.remove(id)),
            Self::Commit(commit, _) => drop(unknown.remove(&commit.id())),
            Self::Claim(..) => {}
        }
    }

    fn add_to(&self, unknown: &mut HashSet<CommitId>) {
        if let Self::Commit(commit, _) = self
            && !commit.is_check()
        {
            unknown.insert(commit.id());
        }
    }

    /// Whether it writes nothing.
    fn is_check(&self) -> bool {
        matches!(self, Self::Commit(commit, _) if commit.is_check())
    }
}

/// The answer to a request if its transaction commits.
enum WriteAnswer {
    Claim(Claim),
    Commit(StoreOutcome),
    Settle(CommitSettlement),
}

struct StoreWriter {
    /// Keeps the WAL open, since SQLite keeps the index of the WAL while a connection has it open.
    /// So frames of a failed commit are not in the index, and the next commit overwrites them.
    /// Without the index SQLite would read the WAL and take such frames for committed, although
    /// they may not be on the disk. It is closed before the other connection, which checkpoints the
    /// whole WAL as the last one.
    _index: Connection,
    /// Checked so that no commit is reported in a file that was removed meanwhile.
    place: OpenedFiles,
    /// `None` after a failure, until it is opened again.
    connection: Option<Connection>,
    entities: EntityCache,
    checkpoints: CheckpointSchedule,
    path: PathBuf,
    /// Commits of unknown outcome that are not settled yet. (No one asks for those of an earlier
    /// process.)
    unknown: HashSet<CommitId>,
    /// The number of committed transactions.
    transactions: Arc<AtomicU64>,
    gate: WriterGate,
    /// Whether another process was writing to the file when the last transaction was to begin.
    is_locked: bool,
    _lock: OwnerLock,
}

impl StoreWriter {
    fn run(mut self, jobs: &Receiver<WriterRequest>) {
        while let Ok(first) = jobs.recv() {
            let (mut all, mut closing) = (Vec::new(), None);
            for asked in std::iter::once(first).chain(jobs.try_iter().take(BATCH - 1)) {
                match asked {
                    WriterRequest::Write(asked) => all.push(asked),
                    WriterRequest::MakeRoom => {}
                    WriterRequest::Close(asked) => {
                        closing = Some(asked);
                        break;
                    }
                }
            }
            if !all.is_empty() {
                self.write(all);
            }
            match &self.connection {
                Some(connection) => self.checkpoints.run(connection, &self.path, &self.gate.0),
                None => self.gate.0.open(),
            }
            if let Some(closing) = closing {
                return self.close(closing, jobs);
            }
        }
    }

    /// Closes the file, and refuses requests until the channel is closed.
    fn close(self, closing: CloseRequest, jobs: &Receiver<WriterRequest>) {
        self.gate.0.remove();
        // (Fails when the other one is closed.)
        let _ = closing.reader.recv();
        drop(self);
        callback::tell(closing.done, ());
        for asked in jobs {
            match asked {
                WriterRequest::Write(asked) => fail(vec![asked], &StoreError::Closed, refused),
                WriterRequest::MakeRoom => {}
                WriterRequest::Close(CloseRequest { done, .. }) => callback::tell(done, ()),
            }
        }
    }

    /// Runs a batch as one transaction. Removes and refuses requests that meet damage, and runs the
    /// rest.
    fn write(&mut self, mut all: Vec<WriteRequest>) {
        while let Some(damaged) = self.try_write(&mut all) {
            let FailedTransaction { why, at, .. } = damaged;
            let Some(at) = at else { return fail(all, &failure::to_store_error(&why), refused) };
            let asked = all.remove(at);
            let error = asked.failed_by(&why);
            fail(vec![asked], &error, refused);
            if all.is_empty() {
                return;
            }
        }
    }

    /// Runs a batch, or nothing if a request meets damage.
    fn try_write(&mut self, all: &mut Vec<WriteRequest>) -> Option<FailedTransaction> {
        let StoreWriter { connection, checkpoints, path, .. } = self;
        let opened = self.place.check().and_then(|()| match connection.take() {
            Some(connection) => Ok(connection),
            None => open_again(checkpoints, path, self.is_locked),
        });
        let connection = match opened {
            Ok(opened) => connection.insert(opened),
            Err(error) => {
                error!(path = %path.display(), why = %error, "the store is not written");
                fail(std::mem::take(all), &error, refused);
                return None;
            }
        };
        let all_told = self.unknown.is_empty();
        let mut done = in_transaction((connection, &mut self.entities), all, all_told, false);
        if let Err(FailedTransaction { why: rusqlite::Error::StatementChangedRows(_), .. }) = done {
            // A commit is a duplicate.
            self.entities.forget_all();
            done = in_transaction((connection, &mut self.entities), all, all_told, true);
        }
        if done.is_err() {
            self.entities.forget_all();
        }
        let was_locked = self.is_locked;
        self.is_locked = done.as_ref().is_err_and(|failed| failure::is_locked(&failed.why));
        if was_locked && !self.is_locked {
            // (It cannot fail.)
            let _ = connection.busy_timeout(PATIENCE);
        }
        match done {
            Ok(results) => {
                if !all.iter().all(WriteRequest::is_check) {
                    // ORDERING: Relaxed. It is a count, and publishes nothing. (Before it is told,
                    // so that who is told has it in the count.)
                    self.transactions.fetch_add(1, Ordering::Relaxed);
                }
                if !self.unknown.is_empty() {
                    all.iter().for_each(|asked| asked.remove_from(&mut self.unknown));
                }
                all.drain(..).zip(results).for_each(|(asked, result)| tell(asked, result));
            }
            Err(failed) if !failed.is_unknown && failure::is_damage(&failed.why) => {
                error!(path = %self.path.display(), why = %failed.why, "the store is damaged");
                return Some(failed);
            }
            Err(FailedTransaction { why, is_unknown, .. }) => {
                error!(path = %self.path.display(), %why, "a transaction of the store has failed");
                // The caches of SQLite and the system do not show what is on the disk.
                self.connection = None;
                let outcome = if is_unknown && !self.undo(all) {
                    all.iter().for_each(|asked| asked.add_to(&mut self.unknown));
                    StoreOutcome::Unknown
                } else {
                    refused
                };
                fail(std::mem::take(all), &failure::to_store_error(&why), outcome);
            }
        }
        None
    }

    /// Ensures that a transaction whose last step failed is not stored; otherwise only another
    /// transaction could tell, which a full disk prevents. Returns false if it may be stored.
    fn undo(&mut self, all: &[WriteRequest]) -> bool {
        let path = &self.path;
        let undone = self.place.check().map_err(io::Error::other).and_then(|()| {
            let open = || self.checkpoints.open_again(path).map_err(io::Error::other);
            let (connection, other) = (open()?, open()?);
            failed_commit::truncate_uncommitted_wal([&connection, &other], path, |connection| {
                any_is_decided(connection, all)
            })?;
            Ok(connection)
        });
        match undone {
            Ok(connection) => {
                self.connection = Some(connection);
                true
            }
            Err(why) => {
                error!(path = %path.display(), %why, "it is not known whether the transaction is stored");
                false
            }
        }
    }
}

/// Opens another connection that writes. If another writer is in the way, only the first
/// transaction waits for it.
fn open_again(
    checkpoints: &CheckpointSchedule,
    path: &Path,
    is_locked: bool,
) -> Result<Connection, StoreError> {
    let connection =
        checkpoints.open_again(path).map_err(|error| failure::reopening_to_store_error(&error))?;
    if is_locked {
        let set = connection.busy_timeout(Duration::ZERO);
        set.map_err(|error| failure::to_store_error(&error))?;
    }
    Ok(connection)
}

/// Whether there is a decision on one of these commits.
fn any_is_decided(connection: &Connection, all: &[WriteRequest]) -> rusqlite::Result<bool> {
    for asked in all {
        if let WriteRequest::Commit(commit, _) = asked
            && decision(connection, commit.id())?.is_some()
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A transaction that was not committed, or may not have been.
struct FailedTransaction {
    why: rusqlite::Error,
    is_unknown: bool,
    /// The index of the request that failed, if one did.
    at: Option<usize>,
}

fn in_transaction(
    (connection, entities): (&mut Connection, &mut EntityCache),
    all: &[WriteRequest],
    all_told: bool,
    is_careful: bool,
) -> Result<Vec<WriteAnswer>, FailedTransaction> {
    let failed = |is_unknown| move |why| FailedTransaction { why, is_unknown, at: None };
    let mut batch = Batch::begin(connection, entities, is_careful).map_err(failed(false))?;
    let mut results = Vec::with_capacity(all.len());
    for (at, asked) in all.iter().enumerate() {
        batch.at = at;
        // A commit is refused before it writes anything, so it needs no savepoint of its own.
        let written = match asked {
            WriteRequest::Claim(entity, _) => batch.claim(entity).map(WriteAnswer::Claim),
            WriteRequest::Commit(commit, _) => batch.commit(commit).map(WriteAnswer::Commit),
            WriteRequest::Settle(commit, _) => batch.settle(*commit).map(WriteAnswer::Settle),
        };
        let at = batch.culprit().unwrap_or(at);
        results.push(written.map_err(|why| FailedTransaction {
            why,
            is_unknown: false,
            at: Some(at),
        })?);
    }
    let prepared = batch.prepare(all_told);
    prepared.map_err(|why| FailedTransaction { why, is_unknown: false, at: batch.culprit() })?;
    batch.commit_all().map_err(failed(true))?;
    Ok(results)
}

fn tell(asked: WriteRequest, written: WriteAnswer) {
    match (asked, written) {
        (WriteRequest::Claim(_, done), WriteAnswer::Claim(claim)) => {
            callback::tell(done, Ok(claim))
        }
        (WriteRequest::Commit(commit, done), WriteAnswer::Commit(outcome)) => {
            // The submitter may free its memory once it is told.
            drop(commit);
            callback::tell(done, outcome);
        }
        (WriteRequest::Settle(_, done), WriteAnswer::Settle(settled)) => {
            callback::tell(done, Ok(settled))
        }
        _ => unreachable!("each is answered by its own kind"),
    }
}

/// Answers that no request is known to be done; `outcome` is the answer to commits.
fn fail(all: Vec<WriteRequest>, error: &StoreError, outcome: fn(StoreError) -> StoreOutcome) {
    for asked in all {
        match asked {
            WriteRequest::Claim(_, done) => callback::tell(done, Err(error.clone())),
            // A check stores nothing, whatever the transaction's outcome.
            WriteRequest::Commit(commit, done) if commit.is_check() => {
                callback::tell(done, refused(error.clone()));
            }
            WriteRequest::Commit(_, done) => callback::tell(done, outcome(error.clone())),
            WriteRequest::Settle(_, done) => callback::tell(done, Err(error.clone())),
        }
    }
}

/// The outcome of a commit that was not stored.
fn refused(error: StoreError) -> StoreOutcome {
    StoreOutcome::Refused(CommitRefusal::Store(error))
}
