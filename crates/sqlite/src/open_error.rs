//! Why a file cannot be opened as a store.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The whole name of a file: as the folder was, and such that SQLite does not take it for anything else, as it does `:memory:` and `file:..`.
///
/// Looks whether there can be such a file, and is one unless it is to be created, for SQLite says of all else only that it is "unable to open".
/// It asks for nothing but what the system says of the name: opening a file and closing it would release SQLite's locks on it.
pub(crate) fn whole_name(path: &Path, is_created: bool) -> Result<PathBuf, OpenError> {
    if path.to_str().is_some_and(is_url) {
        return Err(OpenError::Url);
    }
    let of = || path.to_owned();
    // (The empty name is that of the folder.)
    let whole = std::path::absolute(Path::new(".").join(path))
        .map_err(|error| OpenError::Io { path: of(), error })?;
    let whole = without_links(&whole);
    match fs::metadata(&whole) {
        Ok(metadata) if metadata.is_dir() => return Err(OpenError::Folder { path: of() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        // Whatever else there is to say of it comes when it is opened.
        _ => return Ok(whole),
    }
    match whole.parent() {
        Some(folder) if !folder.exists() => {
            Err(OpenError::NotFound { path: of(), missing: folder.to_owned() })
        }
        _ if is_created => Ok(whole),
        _ => Err(OpenError::NotFound { path: of(), missing: of() }),
    }
}

/// The name of the file itself, by whatever links it is named, also if it is not there yet.
fn without_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // (As many as Linux follows.)
    for _ in 0..40 {
        if let Ok(file) = path.canonicalize() {
            return file;
        }
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

fn is_url(name: &str) -> bool {
    ["postgres://", "postgresql://"].iter().any(|scheme| {
        name.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// Why a file was not opened. Nothing in it was changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// Another store has it: of this process, or of another one.
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
    /// It is a folder.
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// It is the address of a server. (It may have a password, so it is not told.)
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
                "`{}` is in use by another store: end that, or open another file",
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
            Self::Folder { path } => {
                write!(f, "`{}` is a folder: name a file in it", path.display())
            }
            Self::Url => f.write_str(
                "this is the address of a server, and not the name of a file: connect to it by the crate `coact-postgres`",
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
                "`{}` cannot be opened: {error}. Let this program read and write the file and its folder",
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
