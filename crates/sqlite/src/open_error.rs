//! Why a file cannot be opened as a store.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

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
    /// Reading beside an owner takes a file `-shm` in the same folder, which is not there and cannot be made.
    CannotShare {
        /// The file.
        path: PathBuf,
    },
    /// Its `-wal` has commits, which one that is opened as immutable would not show.
    NotImmutable {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses it.
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl OpenError {
    /// The same of a file that goes by another name.
    pub(crate) fn of(mut self, name: &Path) -> Self {
        match &mut self {
            Self::InUse { path }
            | Self::NotAStore { path, .. }
            | Self::Newer { path, .. }
            | Self::CannotShare { path }
            | Self::NotImmutable { path }
            | Self::Io { path, .. } => *path = name.to_owned(),
        }
        self
    }
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
            Self::CannotShare { path } => {
                let name = path.file_name().unwrap_or_default().display();
                write!(
                    f,
                    "`{}` cannot be read from where it is: SQLite may not write `{name}-shm` beside it, which keeps readers and \
                     writers apart. Copy `{name}` and, if it is there, `{name}-wal` to another folder; or, if no program has \
                     the file and there is no `{name}-wal`, open it as immutable",
                    path.display()
                )
            }
            Self::NotImmutable { path } => write!(
                f,
                "`{0}` is not immutable: `{0}-wal` has commits that are not in it yet. Open it as usual, or copy both to a \
                 folder where that works",
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
