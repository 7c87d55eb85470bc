//! Why a file cannot be opened as a store.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;

/// Why a file was not opened. The file is unchanged.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// Another store has the file, in this process or another. A dropped journal may still have it:
    /// wait for `Journal::close`.
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file does not exist, or there is no folder to create it in.
    NotFound {
        /// The file.
        path: PathBuf,
        /// The missing file or folder.
        missing: PathBuf,
    },
    /// The name is empty, or that of a folder.
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// The name is that of a pipe, a device or the like.
    NotAFile {
        /// What was named.
        path: PathBuf,
    },
    /// The name is reserved for another file, as `bank.db-wal` and `bank.db.lock` are.
    Reserved {
        /// The file.
        path: PathBuf,
        /// The name of the file to which it belongs.
        of: PathBuf,
    },
    /// Something that is no file has the name of a file that the store needs.
    InTheWay {
        /// The file.
        path: PathBuf,
        /// The obstacle.
        other: PathBuf,
    },
    /// The file has a second name (a hard link), under which another program could write to it
    /// unnoticed.
    Linked {
        /// The file.
        path: PathBuf,
    },
    /// A backup is replacing the file, or was when its process ended.
    Restoring {
        /// The file.
        path: PathBuf,
    },
    /// The name is a URL, like the address of a server. (It may contain a password, so it is not
    /// shown.)
    Url,
    /// The file belongs to another program, or is damaged.
    NotAStore {
        /// The file.
        path: PathBuf,
        /// The error of SQLite, or what the file contains.
        why: String,
    },
    /// A later version of this program wrote the file.
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        found: i64,
        /// The latest version that this program knows.
        known: i64,
    },
    /// Reading beside an owner needs a file `-shm` in the same folder, which does not exist and
    /// cannot be made.
    CannotShare {
        /// The file.
        path: PathBuf,
    },
    /// The `-wal` of a file that is opened as immutable has commits, which would be missed.
    NotImmutable {
        /// The file.
        path: PathBuf,
    },
    /// The system reports an error.
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
                "`{}` is in use by another store: close the journal that has it (`Journal::close`), end its process, or open another file",
                path.display()
            ),
            Self::NotFound { path, missing } if path == missing => {
                write!(f, "`{}` is not there: correct its name", path.display())
            }
            Self::NotFound { path, missing } => write!(
                f,
                "`{}` cannot be opened: there is no folder `{}`. Create it, or correct the name",
                path.display(),
                missing.display()
            ),
            Self::Folder { path } if path.as_os_str().is_empty() => {
                f.write_str("there is no name: name a file")
            }
            Self::Folder { path } => {
                write!(f, "`{}` is a folder: name a file in it", path.display())
            }
            Self::NotAFile { path } => {
                write!(f, "`{}` is a pipe, a device or the like: name a file", path.display())
            }
            Self::Reserved { path, of } => write!(
                f,
                "`{}` is the name of a file that belongs to `{}`: name another file",
                path.display(),
                of.display()
            ),
            Self::InTheWay { path, other } => write!(
                f,
                "`{}` cannot be opened: it needs `{}`, which is no file. Remove that, or name another file",
                path.display(),
                other.display()
            ),
            Self::Linked { path } => write!(
                f,
                "`{}` has a second name (a hard link), under which another program could damage it: remove that name, or make a copy",
                path.display()
            ),
            Self::Restoring { path } => write!(
                f,
                "a backup is being put in the place of `{}`. If no program does that any more, open it as a store once, or \
                 restore it again",
                path.display()
            ),
            Self::Url => f.write_str(
                "this is a URL, and not the name of a file: connect to a server of PostgreSQL by the crate `coact-postgres`",
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
            Self::Io { path, error } if error.kind() == io::ErrorKind::PermissionDenied => write!(
                f,
                "`{}` cannot be opened: {error}. Run this as a user who may read it, and, to open it as a store, write to it and to \
                 its folder",
                path.display()
            ),
            Self::Io { path, error } => write!(f, "`{}` cannot be opened: {error}", path.display()),
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // (The text has what it says itself.)
            Self::Io { error, .. } => error.source(),
            _ => None,
        }
    }
}
