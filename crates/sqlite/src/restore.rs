//! A backup is put in the place of a file.
//!
//! A copy of it is made first, in a file beside, and put on the disk. Renaming the copy to
//! [`RESTORED`] decides. Before that, nothing has changed. After it the copy is the store; if this
//! process ends now, the next owner finishes the work. In between, the old file may be without its
//! WAL, so that no one reads it.

use std::fs;
use std::path::Path;

use crate::files::{
    JOURNAL, PART, RESTORED, SHM, WAL, beside, is_being_restored, open_error_from_io, remove,
    sync_folder, whole_name_to_write,
};
use crate::open_error::OpenError;
use crate::owner_lock::OwnerLock;
use crate::reader::SqliteReader;
use crate::schema::open_unshared;

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
    fs::rename(&part, &restored).map_err(|error| open_error_from_io(&restored, error))?;
    finish(path)
}

/// Does the rest of it, if it was decided. To be called by the owner of the file.
pub(crate) fn finish(path: &Path) -> Result<(), OpenError> {
    if !is_being_restored(path)? {
        return Ok(());
    }
    // (Something else may have got the name.)
    drop(open_unshared(&beside(path, RESTORED))?);
    let sync = || sync_folder(path).map_err(|error| open_error_from_io(path, error));
    // Each step is on the disk before the next one: a WAL that was there, or a journal, is not that
    // of the new file.
    sync()?;
    [WAL, JOURNAL, SHM].iter().try_for_each(|suffix| remove(&beside(path, suffix)))?;
    sync()?;
    fs::rename(beside(path, RESTORED), path).map_err(|error| open_error_from_io(path, error))?;
    sync()
}
