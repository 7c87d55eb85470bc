//! Why a file cannot be opened as a store.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;

/// Why a file was not opened. Nothing in it was changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// Another store has it: of this process, or of another one. A journal that was dropped may still have
    /// it: `Journal::close` completes when it does not any more.
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// There is no such file; or no folder for it, since only a file is created.
    NotFound {
        /// The file.
        path: PathBuf,
        /// What is not there: the file, or its folder.
        missing: PathBuf,
    },
    /// It is a folder, or the name is empty.
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// It is a pipe, a device or the like.
    NotAFile {
        /// What was named.
        path: PathBuf,
    },
    /// The name is that of a file which belongs to another one, as `bank.db-wal` and `bank.db.lock` do.
    Reserved {
        /// The file.
        path: PathBuf,
        /// The name of the file to which it belongs.
        of: PathBuf,
    },
    /// It needs a file beside it whose name something else has that is no file.
    InTheWay {
        /// The file.
        path: PathBuf,
        /// What is in the way.
        other: PathBuf,
    },
    /// It has another name (a hard link), by which another program could write to it without either knowing of the other.
    Linked {
        /// The file.
        path: PathBuf,
    },
    /// A backup is being put in its place; or was, by a process that has ended before the end.
    Restoring {
        /// The file.
        path: PathBuf,
    },
    /// It is a URL, as the address of a server is. (It may have a password, so it is not told.)
    Url,
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
                "`{}` has another name by a hard link, by which another program could spoil it: remove that, or make a copy",
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
