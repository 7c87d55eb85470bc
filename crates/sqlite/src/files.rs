//! The file of a store, and those that are beside it.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf, absolute, is_separator};

use coact_persist::StoreError;

use crate::open_error::OpenError;

/// What SQLite has beside a file in use.
pub(crate) const WAL: &str = "-wal";
pub(crate) const SHM: &str = "-shm";
pub(crate) const JOURNAL: &str = "-journal";
/// The lock file of the owner.
pub(crate) const LOCK: &str = ".lock";
/// A part of a copy that is being made.
pub(crate) const PART: &str = ".coact-part";
/// All of a backup that is to be put in the place of the file.
pub(crate) const RESTORED: &str = ".coact-restored";

/// All that belongs to a file of the name before it. (A part of a copy has files beside it as well, of which this has the longest name.)
const BESIDE: [&str; 7] = [WAL, SHM, JOURNAL, LOCK, PART, RESTORED, ".coact-part-journal"];

/// How long a name SQLite takes, in bytes and with `-journal` behind it: `MAX_PATHNAME` of its `os_unix.c`.
const LONGEST: usize = if cfg!(unix) { 512 - JOURNAL.len() } else { usize::MAX };

/// The whole name of a file that is to be read.
///
/// Says what is wrong with it as far as that can be seen without opening it, for SQLite says of all else only that it is "unable to open", and waits
/// for ever where a pipe has no other end. (Opening a file and closing it, as a test, would release the locks that SQLite has on it in this process.)
pub(crate) fn whole_name_to_read(path: &Path) -> Result<PathBuf, OpenError> {
    let whole = whole_name(path, LONGEST)?;
    let is_there = is_there(path, &whole)?;
    if is_being_restored(&whole)? {
        return Err(OpenError::Restoring { path: path.to_owned() });
    }
    if !is_there {
        return Err(not_found(path, path));
    }
    refuse_obstacles(path, &whole, &[WAL, SHM])?;
    Ok(whole)
}

/// The same of one that is to be written, which need not be there.
pub(crate) fn whole_name_to_write(path: &Path) -> Result<PathBuf, OpenError> {
    let whole = whole_name(path, LONGEST - RESTORED.len())?;
    if let Some(of) = whose(&whole) {
        return Err(OpenError::Reserved { path: path.to_owned(), of });
    }
    is_there(path, &whole)?;
    refuse_obstacles(path, &whole, &BESIDE)?;
    Ok(whole)
}

/// The name with its folder, without links, and such that SQLite does not take it for anything else, as it does `:memory:` and `file:..`.
fn whole_name(path: &Path, longest: usize) -> Result<PathBuf, OpenError> {
    if path.to_str().is_some_and(is_url) {
        return Err(OpenError::Url);
    }
    // (The empty name is that of the folder.)
    let whole = absolute(Path::new(".").join(path)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => not_found(path, Path::new(".")),
        _ => of_io(path, error),
    })?;
    let whole = without_links(&whole);
    if whole.as_os_str().len() > longest {
        let why = format!("with its folder, the name has more than {longest} bytes");
        return Err(of_io(path, io::Error::new(io::ErrorKind::InvalidFilename, why)));
    }
    Ok(whole)
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

/// Whether it begins as URLs do.
fn is_url(name: &str) -> bool {
    name.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// The file to which this one belongs by its name, if it does.
fn whose(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let length = BESIDE.iter().find_map(|suffix| {
        let length = name.len().checked_sub(suffix.len())?;
        name.get(length..).filter(|end| end.eq_ignore_ascii_case(suffix)).map(|_| length)
    })?;
    (length > 0).then(|| name[..length].into())
}

/// Whether there is a file; if not, there can be one.
fn is_there(path: &Path, whole: &Path) -> Result<bool, OpenError> {
    match fs::metadata(whole) {
        Ok(found) if found.is_file() => return Ok(true),
        Ok(found) if found.is_dir() => return Err(OpenError::Folder { path: path.to_owned() }),
        Ok(_) => return Err(OpenError::NotAFile { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(of_io(path, error)),
    }
    match whole.parent() {
        Some(folder) if !folder.exists() => Err(not_found(path, folder)),
        _ if whole.to_str().is_some_and(|name| name.ends_with(is_separator)) => {
            Err(OpenError::Folder { path: path.to_owned() })
        }
        _ => Ok(false),
    }
}

/// Says what is in the way of the files beside it, if something is.
fn refuse_obstacles(path: &Path, whole: &Path, suffixes: &[&str]) -> Result<(), OpenError> {
    for suffix in suffixes {
        let other = beside(whole, suffix);
        match fs::metadata(&other) {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Err(OpenError::InTheWay { path: path.to_owned(), other }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(of_io(&other, error)),
        }
    }
    Ok(())
}

/// Refuses a file that is to be written, and has another name: by that it would have another lock, and another WAL.
pub(crate) fn refuse_hard_links(path: &Path) -> Result<(), OpenError> {
    match fs::metadata(path) {
        // A copy that has its name, by a process that has ended before it has taken away the other one.
        Ok(file) if names(&file) == 2 && is_part(path, &file)? => remove(&beside(path, PART)),
        Ok(file) if names(&file) > 1 => Err(OpenError::Linked { path: path.to_owned() }),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(of_io(path, error)),
        _ => Ok(()),
    }
}

fn is_part(path: &Path, file: &Metadata) -> Result<bool, OpenError> {
    Ok(identity(&beside(path, PART))? == Some(FileIdentity::of(file)))
}

#[cfg(unix)]
fn names(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(file)
}

/// Elsewhere it cannot be seen.
#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

/// The name of a file with something behind it.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether a backup is to be put in the place of the file, which may be without its WAL meanwhile.
pub(crate) fn is_being_restored(path: &Path) -> Result<bool, OpenError> {
    Ok(identity(&beside(path, RESTORED))?.is_some())
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), OpenError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(of_io(path, error)),
        _ => Ok(()),
    }
}

pub(crate) fn of_io(path: &Path, error: io::Error) -> OpenError {
    OpenError::Io { path: path.to_owned(), error }
}

fn not_found(path: &Path, missing: &Path) -> OpenError {
    OpenError::NotFound { path: path.to_owned(), missing: missing.to_owned() }
}

/// What tells a file from all others, by whatever name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileIdentity(u64, u64);

#[cfg(unix)]
impl FileIdentity {
    pub(crate) fn of(file: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(file.dev(), file.ino())
    }
}

/// Elsewhere the system says it of open files only, and does not let one that is open be removed or replaced.
#[cfg(not(unix))]
impl FileIdentity {
    pub(crate) fn of(_: &Metadata) -> Self {
        Self(0, 0)
    }
}

impl FileIdentity {
    /// Of the file that has this name now, if there is one.
    pub(crate) fn named(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(file) => Ok(Some(Self::of(&file))),
            // (None can have a name that is too long.)
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename => Ok(None),
                _ => Err(error),
            },
        }
    }
}

fn identity(path: &Path) -> Result<Option<FileIdentity>, OpenError> {
    FileIdentity::named(path).map_err(|error| of_io(path, error))
}

/// Files as they are when they are opened.
pub(crate) struct OpenedFiles {
    files: [(PathBuf, Option<FileIdentity>); 2],
}

impl OpenedFiles {
    /// For an owner: of a file and its WAL.
    pub(crate) fn of_owner(path: &Path) -> Result<Self, OpenError> {
        let wal = beside(path, WAL);
        let (of_file, of_wal) = (identity(path)?, identity(&wal)?);
        Ok(Self { files: [(path.to_owned(), of_file), (wal, of_wal)] })
    }

    /// For a reader: of a file in whose place no backup is to be put.
    pub(crate) fn of_reader(path: &Path) -> Result<Self, OpenError> {
        let file = (path.to_owned(), identity(path)?);
        Ok(Self { files: [file, (beside(path, RESTORED), None)] })
    }

    /// Says what has been removed since, or is another file now: what is written where no name leads is lost, and a file that is opened by its
    /// name beside another one does not belong to that.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        for (path, identity) in &self.files {
            let why = match (identity, FileIdentity::named(path)) {
                (then, Ok(now)) if now == *then => continue,
                (_, Ok(None)) => "was removed or moved",
                (Some(_), Ok(Some(_))) => "is another file now",
                (None, Ok(Some(_))) => "was put there",
                (_, Err(error)) => &error.to_string(),
            };
            let why = format!("`{}`: it {why} since the store was opened", path.display());
            return Err(StoreError::Unavailable { why });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_belongs_to_a_file_is_known() {
        for (name, of) in [
            ("bank.db-wal", "bank.db"),
            ("bank.db.LOCK", "bank.db"),
            ("a.lock-journal", "a.lock"),
            ("\u{e9}.coact-restored", "\u{e9}"),
        ] {
            assert_eq!(whose(&Path::new("/folder").join(name)).as_deref(), Some(Path::new(of)));
        }
        for name in ["bank.db", "-wal", ".lock", "wal", "lock.db", "a.db-walnut", "\u{e9}"] {
            assert_eq!(whose(&Path::new("/folder").join(name)), None, "{name}");
        }
    }
}
