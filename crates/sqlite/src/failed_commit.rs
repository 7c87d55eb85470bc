//! What a transaction has left in the WAL is cut off, if it has failed at its last step.

use std::fs::File;
use std::io;
use std::path::Path;

use rusqlite::{Connection, Row, Transaction, TransactionBehavior};

use crate::checkpoint::length;
use crate::files::{WAL, beside};

/// The sizes of the header of a WAL, and of that of each frame, behind which is a page.
const HEADERS: (u64, u64) = (32, 24);

/// Makes certain that nothing is stored, or will be, of transactions that have failed at their last step, given a connection that writes and
/// another one. `is_visible` says whether there is something of them for readers.
///
/// SQLite's index of the WAL ends where the last transaction ends that was committed. But the frames of the one that has failed may be in the
/// file behind that, as a whole even: the error may be one of the last write, of the sync, or of what SQLite does behind it. If the process ends
/// now, the next one takes them for committed. So they are cut off, as SQLite itself cuts a WAL, and the file is synced: then no
/// crash brings them back. This takes no room on the disk.
///
/// # Errors
/// It is not certain.
pub(crate) fn cut_off(
    [writes, other]: [&Connection; 2],
    database: &Path,
    is_visible: impl FnOnce(&Connection) -> rusqlite::Result<bool>,
) -> io::Result<()> {
    let told = |error: rusqlite::Error| io::Error::other(error);
    // So no one else writes to the WAL, or begins it anew.
    let only = Transaction::new_unchecked(writes, TransactionBehavior::Immediate).map_err(told)?;
    if is_visible(&only).map_err(told)? {
        return Err(io::Error::other("it is there"));
    }
    let number = |row: &Row<'_>| Ok(row.get::<_, i64>(0)?.cast_unsigned());
    let page = only.query_row("PRAGMA page_size", [], number).map_err(told)?;
    // (SQLite refuses it within a transaction.)
    let committed = length(other).map_err(told)?.cast_unsigned();
    let (header, frame) = HEADERS;
    let end = if committed == 0 { 0 } else { header + committed * (frame + page) };
    let wal = File::options().write(true).open(beside(database, WAL))?;
    if wal.metadata()?.len() > end {
        wal.set_len(end)?;
    }
    // Also if it is as short: an earlier attempt may have failed here.
    wal.sync_all()?;
    // (Nothing was written in it.)
    only.rollback().map_err(told)
}
