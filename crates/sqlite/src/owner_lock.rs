//! The owner's lock: a file beside that of the store.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{FileIdentity, LOCK, beside, of_io};
use crate::open_error::OpenError;

/// Held as long as the store is open; the system releases it when the process ends, however that is. The file goes with it,
/// unless the process was killed.
pub(crate) struct OwnerLock {
    file: File,
    name: PathBuf,
}

const TRIES: usize = 1_000;

impl OwnerLock {
    pub(crate) fn take(path: &Path) -> Result<Self, OpenError> {
        let name = beside(path, LOCK);
        let io = |error| of_io(&name, error);
        // (As often as it is removed in between, but not for ever on a system that tells files apart in another way.)
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
            // The one before may have removed it in between: then others lock another file of that name.
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
            // If it stays, it is locked again by the next one.
            let _ = fs::remove_file(&self.name);
        }
    }
}

/// Whether this is the file of that name. (Where it cannot be seen it is never removed.)
fn is_named(file: &File, name: &Path) -> io::Result<bool> {
    Ok(FileIdentity::named(name)? == Some(FileIdentity::of(&file.metadata()?)))
}
