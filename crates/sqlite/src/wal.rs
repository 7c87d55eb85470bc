//! What an earlier process has left in the WAL is put on the disk before it is read.

use std::fs::File;
use std::io;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::checkpoint::on_closing;
use crate::files::{WAL, beside, of_io};
use crate::open_error::OpenError;
use crate::schema::of_sqlite;

/// To be called by the owner of a file when it has opened it, before anything is told.
///
/// A process that was killed may have written what it has not synced; and after a sync that has failed, the system may still show what is not
/// on the disk, and never will be: Linux marks such pages as clean, and later syncs leave them out. SQLite takes either for
/// committed, and another commit behind it in the WAL would be lost with it. So all that can be read is written once more, where it is,
/// and then synced. For what is on the disk already that changes nothing, even if the power fails half-way.
pub(crate) fn put_on_disk(connection: &mut Connection, database: &Path) -> Result<(), OpenError> {
    let told = |error| of_sqlite(database, error);
    // So no one else writes to the WAL, or begins it anew; since it is open here, no one deletes it.
    let only =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(told)?;
    let wal = beside(database, WAL);
    put_file_on_disk(&wal).map_err(|error| of_io(&wal, error))?;
    only.commit().map_err(told)?;
    // Not before: the file would be newer than what the WAL has on the disk, and overwritten from there.
    on_closing(connection, true).map_err(told)
}

fn put_file_on_disk(path: &Path) -> io::Result<()> {
    let wal = match File::options().read(true).write(true).open(path) {
        Ok(wal) if wal.metadata()?.len() == 0 => return Ok(()),
        Ok(wal) => wal,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    write_again(&wal)?;
    wal.sync_all()?;
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

/// The name of a WAL is on the disk when its folder is.
#[cfg(unix)]
pub(crate) fn sync_folder(of: &Path) -> io::Result<()> {
    let folder = of.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Elsewhere a failed sync keeps what it should have written, as far as is documented.
#[cfg(not(unix))]
fn write_again(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
