//! The owner's lock: a file beside that of the store.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

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
        let name = beside(path, ".lock");
        let io = |error| OpenError::Io { path: path.to_owned(), error };
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

/// Whether this is the file of that name.
#[cfg(unix)]
fn is_named(file: &File, name: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let identity = |of: fs::Metadata| (of.dev(), of.ino());
    match fs::metadata(name) {
        Ok(named) => Ok(identity(named) == identity(file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere it is never removed.
#[cfg(not(unix))]
fn is_named(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// The name of a file with something behind it.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
