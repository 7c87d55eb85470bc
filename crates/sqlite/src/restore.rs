//! A backup is put in the place of a file.
//!
//! A copy of it is made first, in a file beside, and put on the disk. Its new name, [`RESTORED`],
//! is the decision: before, all is as it was; after, the copy is what is stored, also for the next
//! owner if this process ends at once, who does the rest of it. In between, the old file may be
//! without its WAL, so that no one reads it.

use std::fs;
use std::path::Path;

use crate::files::{
    JOURNAL, PART, RESTORED, SHM, WAL, beside, is_being_restored, of_io, remove,
    whole_name_to_write,
};
use crate::open_error::OpenError;
use crate::owner_lock::OwnerLock;
use crate::reader::SqliteReader;
use crate::schema::open_unshared;
use crate::wal::sync_folder;

pub(crate) fn restore(backup: &Path, path: &Path) -> Result<(), OpenError> {
    let reader = SqliteReader::open(backup)?;
    let path = &*whole_name_to_write(path)?;
    let _lock = OwnerLock::take(path)?;
    let part = beside(path, PART);
    if part.canonicalize().is_ok_and(|part| part == reader.path()) {
        // It would be overwritten before it is read.
        return Err(OpenError::Reserved { path: backup.to_owned(), of: path.to_owned() });
    }
    reader.copy_to(&part).map_err(|error| error.of_restoring(backup, path))?;
    drop(reader);
    let restored = beside(path, RESTORED);
    fs::rename(&part, &restored).map_err(|error| of_io(&restored, error))?;
    finish(path)
}

/// Does the rest of it, if it was decided. To be called by the owner of the file.
pub(crate) fn finish(path: &Path) -> Result<(), OpenError> {
    if !is_being_restored(path)? {
        return Ok(());
    }
    // (Something else may have got the name.)
    drop(open_unshared(&beside(path, RESTORED))?);
    let sync = || sync_folder(path).map_err(|error| of_io(path, error));
    // Each step is on the disk before the next one: a WAL that was there, or a journal, is not that
    // of the new file.
    sync()?;
    [WAL, JOURNAL, SHM].iter().try_for_each(|suffix| remove(&beside(path, suffix)))?;
    sync()?;
    fs::rename(beside(path, RESTORED), path).map_err(|error| of_io(path, error))?;
    sync()
}
