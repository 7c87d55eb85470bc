//! Decides when to checkpoint: to copy the WAL into the file.
//!
//! SQLite would do so itself after a commit, and report no error. But after a failed sync of the
//! file it must not go on: if a read was in progress at the last checkpoint, that checkpoint was
//! partial, without a sync. The failed sync may lose what it wrote, and SQLite does not write it
//! again, but restarts the WAL when the rest is done.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ffi};
use tracing::{error, warn};

use crate::open_error::OpenError;
use crate::reader_gate::ReaderGate;
use crate::schema::{open_error_from_sqlite, open_to_write};
use crate::wal_holders::wal_holders;

/// The pages in the WAL that trigger a checkpoint: SQLite's default.
const CHECKPOINT_PAGES: i64 = 1_000;

/// After how many more pages to try again if readers prevent a checkpoint.
const RETRY_PAGES: i64 = 100;

/// From how many pages on to warn about readers that prevent a restart, and again at each doubling.
const WARNING_PAGES: i64 = 8 * CHECKPOINT_PAGES;

/// The bytes that a grown WAL keeps when it restarts.
const KEPT_BYTES: i64 = 8 << 20;

/// When the next checkpoint of a store is due.
pub(crate) struct CheckpointSchedule {
    /// No more checkpoints until the store is opened again: that starts over with the whole WAL.
    are_over: bool,
    /// The pages at the last checkpoint.
    length: i64,
    /// The pages at which to try next.
    due: i64,
    /// Whether to try again when the reader is between two queries.
    is_owed: bool,
    /// The pages from which on to warn.
    told_from: i64,
}

impl Default for CheckpointSchedule {
    fn default() -> Self {
        Self {
            are_over: false,
            length: 0,
            due: CHECKPOINT_PAGES,
            is_owed: false,
            told_from: WARNING_PAGES,
        }
    }
}

impl CheckpointSchedule {
    /// Opens another connection that writes.
    pub(crate) fn open_again(&self, path: &Path) -> Result<Connection, OpenError> {
        let connection = open_to_write(path, false)?;
        keep_short(&connection).map_err(|error| open_error_from_sqlite(path, error))?;
        if !self.are_over {
            on_closing(&connection, true).map_err(|error| open_error_from_sqlite(path, error))?;
        }
        Ok(connection)
    }

    /// Checkpoints a long WAL, after a transaction and when the reader calls.
    pub(crate) fn run(&mut self, connection: &Connection, path: &Path, gate: &ReaderGate) {
        if self.are_over {
            return gate.open();
        }
        let Err(why) = self.try_run(connection, path, gate) else { return };
        gate.open();
        let is_sync = |error: &ffi::Error| error.extended_code == ffi::SQLITE_IOERR_FSYNC;
        if !why.sqlite_error().is_some_and(is_sync) {
            // The disk may be full: everything is still in the WAL, and the next checkpoint tries
            // again.
            error!(path = %path.display(), %why, "the WAL cannot be put into the file now");
            return;
        }
        error!(path = %path.display(), %why, "the WAL is not put into the file any more, until the store is opened again");
        self.are_over = true;
        if let Err(why) = on_closing(connection, false) {
            error!(path = %path.display(), %why, "the WAL may be put into the file when it is closed");
        }
    }

    fn try_run(
        &mut self,
        connection: &Connection,
        path: &Path,
        gate: &ReaderGate,
    ) -> rusqlite::Result<()> {
        let length = length(connection)?;
        if length < self.length {
            // The WAL has restarted.
            (self.due, self.told_from) = (CHECKPOINT_PAGES, WARNING_PAGES);
        }
        self.length = length;
        if length < CHECKPOINT_PAGES || (length < self.due && !self.is_owed) {
            self.is_owed = false;
            gate.open();
            return Ok(());
        }
        let is_alone = gate.close();
        if !is_alone && length < self.due {
            // The reader calls before its next query.
            return Ok(());
        }
        let is_whole = connection
            .prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?
            .query_row([], |row| Ok(row.get::<_, i64>("checkpointed")? >= length))?;
        self.due = length + RETRY_PAGES;
        self.is_owed = !is_alone;
        if is_alone {
            gate.open();
            if !is_whole {
                self.tell_holders(path);
            }
        }
        Ok(())
    }

    /// Warns about readers if the WAL has grown too long.
    fn tell_holders(&mut self, path: &Path) {
        if self.length < self.told_from {
            return;
        }
        self.told_from = self.length * 2;
        let holders = wal_holders(path);
        let by = if holders.is_empty() { "unknown".into() } else { holders.join(", ") };
        warn!(
            path = %path.display(), pages = self.length, processes = by,
            "the WAL grows, and cannot begin anew before a transaction of another connection ends that reads in it"
        );
    }
}

/// Returns the number of committed frames in the WAL.
pub(crate) fn length(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?.query_row([], |row| row.get("log"))
}

/// Makes SQLite truncate a grown WAL when it restarts. It does so in the first transaction, without
/// waiting.
pub(crate) fn keep_short(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_size_limit", KEPT_BYTES)
}

/// Sets whether this connection checkpoints the whole WAL when it closes as the last one.
pub(crate) fn on_closing(connection: &Connection, does: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !does)?;
    Ok(())
}
