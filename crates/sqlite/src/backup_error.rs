//! Why a store was not backed up.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

use coact_persist::StoreError;

use crate::files::open_error_from_io;
use crate::open_error::OpenError;

/// Why no [backup](crate::SqliteReader::back_up) was made. The store is unchanged, and its owner
/// goes on.
#[derive(Debug)]
#[non_exhaustive]
pub enum BackupError {
    /// A file of this name exists, and was left as it is.
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The name no longer belongs to the store that was opened: another file replaced it, or it was
    /// removed.
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// The name is not UTF-8, which SQLite requires.
    NotUtf8 {
        /// The file.
        path: PathBuf,
    },
    /// The name cannot be that of a file, belongs to a store, or to a backup in progress.
    Target(OpenError),
    /// The store cannot be opened again.
    Open(OpenError),
    /// The store cannot be read to its end, or the copy cannot be written.
    Copy(StoreError),
    /// The system cannot make the file, or flush it to the disk.
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl BackupError {
    /// The error of a backup that replaces a file.
    pub(crate) fn of_restoring(self, backup: &Path, file: &Path) -> OpenError {
        let io = |error| open_error_from_io(file, error);
        match self {
            Self::Target(error) | Self::Open(error) => error,
            Self::Copy(StoreError::Unavailable { why }) => io(io::Error::other(why)),
            Self::Copy(error) => {
                let why = match error {
                    StoreError::Damaged { why } => why,
                    other => other.to_string(),
                };
                OpenError::NotAStore { path: backup.to_owned(), why }
            }
            Self::Io { error, .. } => io(error),
            Self::Exists { .. } => io(io::ErrorKind::AlreadyExists.into()),
            replaced @ Self::Replaced { .. } => io(io::Error::other(replaced.to_string())),
            Self::NotUtf8 { .. } => {
                io(io::Error::new(io::ErrorKind::InvalidFilename, "its name is no UTF-8"))
            }
        }
    }
}

impl Display for BackupError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists { path } => {
                write!(f, "`{}` is there already: name another file", path.display())
            }
            Self::Replaced { path } => {
                write!(f, "`{}` was removed, or is another file now: open it again", path.display())
            }
            Self::NotUtf8 { path } => {
                write!(f, "`{}` is no UTF-8: name another file", path.display())
            }
            Self::Target(error) | Self::Open(error) => Display::fmt(error, f),
            Self::Copy(error) => write!(f, "it is not backed up: {error}"),
            Self::Io { path, error } => {
                write!(f, "`{}` cannot be written: {error}", path.display())
            }
        }
    }
}

impl Error for BackupError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Exists { .. } | Self::Replaced { .. } | Self::NotUtf8 { .. } => None,
            // (What it says is said above.)
            Self::Target(error) | Self::Open(error) => error.source(),
            Self::Copy(error) => error.source(),
            Self::Io { error, .. } => error.source(),
        }
    }
}
