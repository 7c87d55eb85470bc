//! The owner's lock file, beside the store's file.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{FileIdentity, LOCK, beside, open_error_from_io};
use crate::open_error::OpenError;

/// Held while the store is open; the system releases it when the process ends. Dropping it removes
/// the file, which stays only if the process is killed.
pub(crate) struct OwnerLock {
    file: File,
    name: PathBuf,
}

const TRIES: usize = 1_000;

impl OwnerLock {
    pub(crate) fn take(path: &Path) -> Result<Self, OpenError> {
        let name = beside(path, LOCK);
        let io = |error| open_error_from_io(&name, error);
        // (Retries whenever the file is removed in between, but not forever on a system that cannot
        // identify files.)
        for _ in 0..TRIES {
            let file =
                File::options().create(true).truncate(false).write(true).open(&name).map_err(io)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(OpenError::InUse { path: path.to_owned() });
                }
                Err(TryLockError::Error(error)) => return Err(io(error)),
            }
            // The previous owner may have removed the file in between: then others lock another
            // file of that name.
            if is_named(&file, &name).map_err(io)? {
                return Ok(Self { file, name });
            }
        }
        Err(OpenError::InUse { path: path.to_owned() })
    }
}

impl Drop for OwnerLock {
    /// Removes the file while it is locked, so that it is no one else's.
    fn drop(&mut self) {
        if cfg!(unix) && is_named(&self.file, &self.name).unwrap_or(false) {
            // A file that stays is locked again by the next owner.
            let _ = fs::remove_file(&self.name);
        }
    }
}

/// Whether the file has this name. (If that cannot be told, it is never removed.)
fn is_named(file: &File, name: &Path) -> io::Result<bool> {
    Ok(FileIdentity::named(name)? == Some(FileIdentity::of(&file.metadata()?)))
}
