//! Why a file cannot be opened as a store.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;

/// Why a file was not opened. Nothing in it was changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// Another store has it: of this process, or of another one.
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// It is the file of something else, or damaged.
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What SQLite says, or what is in the file.
        why: String,
    },
    /// A later version of this program has written it.
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        found: i64,
        /// The latest one that this program knows.
        known: i64,
    },
    /// The system refuses it.
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Display for OpenError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { path } => write!(
                f,
                "`{}` is in use by another store: end that, or open another file",
                path.display()
            ),
            Self::NotAStore { path, why } => write!(
                f,
                "`{}` is not a store, or damaged: {why}. Open another file, or restore it from a backup",
                path.display()
            ),
            Self::Newer { path, found, known } => write!(
                f,
                "`{}` has format {found}, and this program knows up to {known}: use the program that has written it, or a \
                 later one",
                path.display()
            ),
            Self::Io { path, error } => write!(f, "`{}` cannot be opened: {error}", path.display()),
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
