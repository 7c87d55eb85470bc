//! When what is in the WAL is put into the file.
//!
//! SQLite does it by itself after a commit, and tells no one if that fails. But after a failed sync of the file it must not go on: if
//! some read was under way at the last checkpoint, that one was done in part, without a sync. What it has written may be lost by the sync that
//! failed, and SQLite does not write it again, but begins the WAL anew when the rest is done.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ffi};
use tracing::error;

use crate::open_error::OpenError;
use crate::schema::{of_sqlite, open_to_write};

/// How many pages there may be in the WAL: as many as SQLite would leave.
const LONG: i64 = 1_000;

/// The checkpoints of a store.
#[derive(Default)]
pub(crate) struct Checkpoints {
    /// Until the store is opened again, which begins with all of the WAL.
    are_over: bool,
}

impl Checkpoints {
    /// Opens a connection that writes once more.
    pub(crate) fn open_again(&self, path: &Path) -> Result<Connection, OpenError> {
        let connection = open_to_write(path, false)?;
        if !self.are_over {
            on_closing(&connection, true).map_err(|error| of_sqlite(path, error))?;
        }
        Ok(connection)
    }

    /// After a transaction: puts what is in the WAL into the file, if it is long.
    pub(crate) fn run(&mut self, connection: &Connection, path: &Path) {
        if self.are_over {
            return;
        }
        let Err(why) = run(connection) else { return };
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
}

/// Returns how many frames there are in the WAL that were committed.
pub(crate) fn length(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?.query_row([], |row| row.get("log"))
}

fn run(connection: &Connection) -> rusqlite::Result<()> {
    if length(connection)? >= LONG {
        connection.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |_| Ok(()))?;
    }
    Ok(())
}

/// Whether the last connection puts all of the WAL into the file when it is closed, if it is this one.
pub(crate) fn on_closing(connection: &Connection, does: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !does)?;
    Ok(())
}
