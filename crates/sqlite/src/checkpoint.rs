//! When what is in the WAL is put into the file.
//!
//! SQLite does it by itself after a commit, and tells no one if that fails. But after a failed sync of the file it must not go on: if
//! some read was under way at the last checkpoint, that one was done in part, without a sync. What it has written may be lost by the sync that
//! failed, and SQLite does not write it again, but begins the WAL anew when the rest is done.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ffi};
use tracing::{error, warn};

use crate::open_error::OpenError;
use crate::reader_gate::ReaderGate;
use crate::schema::{of_sqlite, open_to_write};
use crate::wal_holders::wal_holders;

/// How many pages there may be in the WAL before it is put into the file: as many as SQLite would leave.
const LONG: i64 = 1_000;

/// How many more there are when it is tried again, if others read in it.
const MORE: i64 = 100;

/// From how many on it is said who holds it up, and again whenever there are twice as many.
const TOO_LONG: i64 = 8 * LONG;

/// How many bytes of a WAL that has grown are left when it begins anew.
const KEPT: i64 = 8 << 20;

/// The checkpoints of a store.
pub(crate) struct CheckpointSchedule {
    /// Until the store is opened again, which begins with all of the WAL.
    are_over: bool,
    /// How many pages there were the last time.
    length: i64,
    /// From how many on it is tried next.
    due: i64,
    /// Whether it is tried again when the reader is between two questions.
    is_owed: bool,
    /// From how many on it is said that there are too many.
    told_from: i64,
}

impl Default for CheckpointSchedule {
    fn default() -> Self {
        Self { are_over: false, length: 0, due: LONG, is_owed: false, told_from: TOO_LONG }
    }
}

impl CheckpointSchedule {
    /// Opens a connection that writes once more.
    pub(crate) fn open_again(&self, path: &Path) -> Result<Connection, OpenError> {
        let connection = open_to_write(path, false)?;
        keep_short(&connection).map_err(|error| of_sqlite(path, error))?;
        if !self.are_over {
            on_closing(&connection, true).map_err(|error| of_sqlite(path, error))?;
        }
        Ok(connection)
    }

    /// After a transaction, and when the reader has called: puts what is in the WAL into the file, if it is long.
    pub(crate) fn run(&mut self, connection: &Connection, path: &Path, gate: &ReaderGate) {
        if self.are_over {
            return gate.open();
        }
        let Err(why) = self.try_run(connection, path, gate) else { return };
        gate.open();
        let is_sync = |error: &ffi::Error| error.extended_code == ffi::SQLITE_IOERR_FSYNC;
        if !why.sqlite_error().is_some_and(is_sync) {
            // A full disk, for instance: all of it is still in the WAL, and is tried again.
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
            // It has begun anew.
            (self.due, self.told_from) = (LONG, TOO_LONG);
        }
        self.length = length;
        if length < LONG || (length < self.due && !self.is_owed) {
            self.is_owed = false;
            gate.open();
            return Ok(());
        }
        let is_alone = gate.close();
        if !is_alone && length < self.due {
            // The reader calls before its next question.
            return Ok(());
        }
        let is_whole = connection
            .prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?
            .query_row([], |row| Ok(row.get::<_, i64>("checkpointed")? >= length))?;
        self.due = length + MORE;
        self.is_owed = !is_alone;
        if is_alone {
            gate.open();
            if !is_whole {
                self.tell_holders(path);
            }
        }
        Ok(())
    }

    /// Says that others read in the WAL all the time, if it is too long by now.
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

/// Returns how many frames there are in the WAL that were committed.
pub(crate) fn length(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?.query_row([], |row| row.get("log"))
}

/// Has the WAL cut when it begins anew, if it has grown. SQLite does so with the first transaction in it, and waits for no one.
pub(crate) fn keep_short(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_size_limit", KEPT)
}

/// Whether the last connection puts all of the WAL into the file when it is closed, if it is this one.
pub(crate) fn on_closing(connection: &Connection, does: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !does)?;
    Ok(())
}
