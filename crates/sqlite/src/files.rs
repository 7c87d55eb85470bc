//! The file of a store, and the files beside it.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf, absolute, is_separator};

use coact_persist::StoreError;

use crate::open_error::OpenError;

/// The suffixes of SQLite's files beside a file in use.
pub(crate) const WAL: &str = "-wal";
pub(crate) const SHM: &str = "-shm";
pub(crate) const JOURNAL: &str = "-journal";
/// The owner's lock file.
pub(crate) const LOCK: &str = ".lock";
/// A partial copy.
pub(crate) const PART: &str = ".coact-part";
/// A complete backup that is to replace the file.
pub(crate) const RESTORED: &str = ".coact-restored";

/// The suffixes of all files that belong to a store's file. (A partial copy has files beside it
/// too; this one has the longest name.)
const BESIDE: [&str; 7] = [WAL, SHM, JOURNAL, LOCK, PART, RESTORED, ".coact-part-journal"];

/// The longest name that SQLite takes, in bytes and with `-journal` behind it: `MAX_PATHNAME` of
/// its `os_unix.c`.
const LONGEST: usize = if cfg!(unix) { 512 - JOURNAL.len() } else { usize::MAX };

/// Returns the absolute name of a file to read.
///
/// Reports what is wrong as far as it can be seen without opening the file, because SQLite reports
/// everything else as "unable to open", and waits forever for a pipe without a peer. (Opening and
/// closing the file as a test would release this process's SQLite locks on it.)
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

/// Returns the absolute name of a file to write, which need not exist.
pub(crate) fn whole_name_to_write(path: &Path) -> Result<PathBuf, OpenError> {
    let whole = whole_name(path, LONGEST - RESTORED.len())?;
    if let Some(of) = main_file_of(&whole) {
        return Err(OpenError::Reserved { path: path.to_owned(), of });
    }
    is_there(path, &whole)?;
    refuse_obstacles(path, &whole, &BESIDE)?;
    Ok(whole)
}

/// Returns the absolute name, without links, in a form that SQLite takes for a file, unlike
/// `:memory:` and `file:..`.
fn whole_name(path: &Path, longest: usize) -> Result<PathBuf, OpenError> {
    if path.to_str().is_some_and(is_url) {
        return Err(OpenError::Url);
    }
    // (The empty name is that of the folder.)
    let whole = absolute(Path::new(".").join(path)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => not_found(path, Path::new(".")),
        _ => open_error_from_io(path, error),
    })?;
    let whole = without_links(&whole);
    if whole.as_os_str().len() > longest {
        let why = format!("with its folder, the name has more than {longest} bytes");
        return Err(open_error_from_io(path, io::Error::new(io::ErrorKind::InvalidFilename, why)));
    }
    Ok(whole)
}

/// Resolves links to the file itself, which need not exist.
fn without_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // (Linux follows as many.)
    for _ in 0..40 {
        if let Ok(file) = path.canonicalize() {
            return file;
        }
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

/// Whether the name begins like a URL.
fn is_url(name: &str) -> bool {
    name.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Returns the file to which this one belongs by its name, if any.
fn main_file_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let length = BESIDE.iter().find_map(|suffix| {
        let length = name.len().checked_sub(suffix.len())?;
        name.get(length..).filter(|end| end.eq_ignore_ascii_case(suffix)).map(|_| length)
    })?;
    (length > 0).then(|| name[..length].into())
}

/// Whether the file exists; if not, it can be made.
fn is_there(path: &Path, whole: &Path) -> Result<bool, OpenError> {
    match fs::metadata(whole) {
        Ok(found) if found.is_file() => return Ok(true),
        Ok(found) if found.is_dir() => return Err(OpenError::Folder { path: path.to_owned() }),
        Ok(_) => return Err(OpenError::NotAFile { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(open_error_from_io(path, error)),
    }
    match whole.parent() {
        Some(folder) if !folder.exists() => Err(not_found(path, folder)),
        _ if whole.to_str().is_some_and(|name| name.ends_with(is_separator)) => {
            Err(OpenError::Folder { path: path.to_owned() })
        }
        _ => Ok(false),
    }
}

/// Reports obstacles to the files beside it.
fn refuse_obstacles(path: &Path, whole: &Path, suffixes: &[&str]) -> Result<(), OpenError> {
    for suffix in suffixes {
        let other = beside(whole, suffix);
        match fs::metadata(&other) {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Err(OpenError::InTheWay { path: path.to_owned(), other }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(open_error_from_io(&other, error)),
        }
    }
    Ok(())
}

/// Refuses to write a file with a second name: under that name it would have another lock, and
/// another WAL.
pub(crate) fn refuse_hard_links(path: &Path) -> Result<(), OpenError> {
    match fs::metadata(path) {
        // A copy of that name, left by a process that ended before it removed the other name.
        Ok(file) if link_count(&file) == 2 && is_part(path, &file)? => remove(&beside(path, PART)),
        Ok(file) if link_count(&file) > 1 => Err(OpenError::Linked { path: path.to_owned() }),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(open_error_from_io(path, error))
        }
        _ => Ok(()),
    }
}

fn is_part(path: &Path, file: &Metadata) -> Result<bool, OpenError> {
    Ok(identity(&beside(path, PART))? == Some(FileIdentity::of(file)))
}

#[cfg(unix)]
fn link_count(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(file)
}

/// Elsewhere this cannot be seen.
#[cfg(not(unix))]
fn link_count(_: &Metadata) -> u64 {
    1
}

/// A file's name with a suffix.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether a backup is about to replace the file, which may lack its WAL meanwhile.
pub(crate) fn is_being_restored(path: &Path) -> Result<bool, OpenError> {
    Ok(identity(&beside(path, RESTORED))?.is_some())
}

/// Removes a file, if it exists.
pub(crate) fn remove(path: &Path) -> Result<(), OpenError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(open_error_from_io(path, error))
        }
        _ => Ok(()),
    }
}

/// Syncs the folder of a file, which makes the file's name durable.
#[cfg(unix)]
pub(crate) fn sync_folder(of: &Path) -> io::Result<()> {
    let folder = of.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Elsewhere folders cannot be synced.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

pub(crate) fn open_error_from_io(path: &Path, error: io::Error) -> OpenError {
    OpenError::Io { path: path.to_owned(), error }
}

fn not_found(path: &Path, missing: &Path) -> OpenError {
    OpenError::NotFound { path: path.to_owned(), missing: missing.to_owned() }
}

/// Identifies a file under any name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileIdentity(u64, u64);

#[cfg(unix)]
impl FileIdentity {
    pub(crate) fn of(file: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(file.dev(), file.ino())
    }
}

/// Elsewhere only open files have an identity, and open files can be neither removed nor replaced.
#[cfg(not(unix))]
impl FileIdentity {
    pub(crate) fn of(_: &Metadata) -> Self {
        Self(0, 0)
    }
}

impl FileIdentity {
    /// The identity of the file that has this name now, if any.
    pub(crate) fn named(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(file) => Ok(Some(Self::of(&file))),
            // (No file has a name that is too long.)
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename => Ok(None),
                _ => Err(error),
            },
        }
    }
}

fn identity(path: &Path) -> Result<Option<FileIdentity>, OpenError> {
    FileIdentity::named(path).map_err(|error| open_error_from_io(path, error))
}

/// The identities of files when they were opened.
pub(crate) struct OpenedFiles {
    files: [(PathBuf, Option<FileIdentity>); 2],
}

impl OpenedFiles {
    /// For an owner: the file and its WAL.
    pub(crate) fn of_owner(path: &Path) -> Result<Self, OpenError> {
        let wal = beside(path, WAL);
        let (of_file, of_wal) = (identity(path)?, identity(&wal)?);
        Ok(Self { files: [(path.to_owned(), of_file), (wal, of_wal)] })
    }

    /// For a reader: the file, and that no backup is about to replace it.
    pub(crate) fn of_reader(path: &Path) -> Result<Self, OpenError> {
        let file = (path.to_owned(), identity(path)?);
        Ok(Self { files: [file, (beside(path, RESTORED), None)] })
    }

    /// Reports which file was removed or replaced since: data written to a nameless file is lost,
    /// and a file opened by name beside a replaced one does not belong to it.
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
            assert_eq!(
                main_file_of(&Path::new("/folder").join(name)).as_deref(),
                Some(Path::new(of))
            );
        }
        for name in ["bank.db", "-wal", ".lock", "wal", "lock.db", "a.db-walnut", "\u{e9}"] {
            assert_eq!(main_file_of(&Path::new("/folder").join(name)), None, "{name}");
        }
    }
}
