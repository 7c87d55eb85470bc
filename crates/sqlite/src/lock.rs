//! The owner's lock: a file beside that of the store.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::open_error::OpenError;

/// Held as long as the store is open; the system releases it when the process ends, however that is.
pub(crate) struct OwnerLock {
    _file: File,
}

impl OwnerLock {
    pub(crate) fn take(path: &Path) -> Result<Self, OpenError> {
        // Of the file itself, by whatever links it is named.
        let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = beside(&file, ".lock");
        let io = |error| OpenError::Io { path: path.to_owned(), error };
        let file =
            File::options().create(true).truncate(false).write(true).open(&name).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => Err(io(error)),
        }
    }
}

/// The name of a file with something behind it.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
