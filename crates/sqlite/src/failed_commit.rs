//! Truncates the WAL after a transaction whose last step failed.

use std::fs::File;
use std::io;
use std::path::Path;

use rusqlite::{Connection, Row, Transaction, TransactionBehavior};

use crate::checkpoint::length;
use crate::files::{WAL, beside};

/// The sizes of a WAL's header, and of the header of each frame, which precedes its page.
const HEADERS: (u64, u64) = (32, 24);

/// Ensures that no transaction whose last step failed is stored now or later, given a connection
/// that writes and another one. `is_visible` tells whether readers see anything of these
/// transactions.
///
/// SQLite's index of the WAL ends with the last committed transaction. But the frames of the failed
/// one may follow in the file, even all of them: the last write, the sync, or a later step of
/// SQLite may have failed. If the process ended now, the next one would take them for committed. So
/// this truncates the file, as SQLite itself does, and syncs it: then no crash brings them back.
/// This takes no room on the disk.
///
/// # Errors
/// The outcome is uncertain.
pub(crate) fn truncate_uncommitted_wal(
    [writes, other]: [&Connection; 2],
    database: &Path,
    is_visible: impl FnOnce(&Connection) -> rusqlite::Result<bool>,
) -> io::Result<()> {
    let told = |error: rusqlite::Error| io::Error::other(error);
    // Keeps others from writing to the WAL, or restarting it.
    let only = Transaction::new_unchecked(writes, TransactionBehavior::Immediate).map_err(told)?;
    if is_visible(&only).map_err(told)? {
        return Err(io::Error::other("it is there"));
    }
    let number = |row: &Row<'_>| Ok(row.get::<_, i64>(0)?.cast_unsigned());
    let page = only.query_row("PRAGMA page_size", [], number).map_err(told)?;
    // (SQLite rejects it within a transaction.)
    let committed = length(other).map_err(told)?.cast_unsigned();
    let (header, frame) = HEADERS;
    let end = if committed == 0 { 0 } else { header + committed * (frame + page) };
    let wal = File::options().write(true).open(beside(database, WAL))?;
    if wal.metadata()?.len() > end {
        wal.set_len(end)?;
    }
    // Even if it is already that short: an earlier attempt may have failed here.
    wal.sync_all()?;
    // (It wrote nothing.)
    only.rollback().map_err(told)
}
