//! Flushes the WAL of an earlier process before it is read.

use std::fs::File;
use std::io;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::checkpoint::on_closing;
use crate::files::{WAL, beside, open_error_from_io, sync_folder};
use crate::open_error::OpenError;
use crate::schema::open_error_from_sqlite;

/// The owner of a file calls it on opening, before it reports anything.
///
/// A process that was killed may have written what it never synced; and after a failed sync the
/// system may show what is not on the disk and never will be: Linux marks such pages as clean, and
/// later syncs skip them. SQLite takes either for committed, and a later commit in the WAL would be
/// lost with it. So this writes all that can be read once more, in place, and syncs it. That
/// changes nothing that is on the disk already, even if the power fails half-way.
pub(crate) fn flush_leftover_wal(
    connection: &mut Connection,
    database: &Path,
) -> Result<(), OpenError> {
    let told = |error| open_error_from_sqlite(database, error);
    // Keeps others from writing to the WAL or restarting it; since it is open here, no one deletes
    // it.
    let only =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(told)?;
    let wal = beside(database, WAL);
    rewrite_file(&wal).map_err(|error| open_error_from_io(&wal, error))?;
    only.commit().map_err(told)?;
    // Not earlier: a newer file would be overwritten from the WAL on the disk.
    on_closing(connection, true).map_err(told)
}

fn rewrite_file(path: &Path) -> io::Result<()> {
    let wal = match File::options().read(true).write(true).open(path) {
        Ok(wal) if wal.metadata()?.len() == 0 => return Ok(()),
        Ok(wal) => wal,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    write_again(&wal)?;
    wal.sync_all()?;
    // Makes the name of the WAL durable.
    sync_folder(path)
}

#[cfg(unix)]
fn write_again(file: &File) -> io::Result<()> {
    use std::os::unix::fs::FileExt;

    let mut bytes = vec![0; 1 << 16];
    let mut offset = 0;
    loop {
        match file.read_at(&mut bytes, offset) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                file.write_all_at(&bytes[..count], offset)?;
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Elsewhere a failed sync keeps its data, as far as is documented.
#[cfg(not(unix))]
fn write_again(_: &File) -> io::Result<()> {
    Ok(())
}
