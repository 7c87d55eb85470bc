//! What has happened to the files of a folder.

use std::sync::Arc;

/// A file, whatever its name is now: an inode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct FileId(pub(crate) usize);

/// What a file is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The database itself.
    Database,
    /// Its write-ahead log.
    Wal,
    /// Its rollback journal.
    Journal,
    /// Anything else.
    Other,
}

impl Kind {
    pub(crate) fn of(name: &str) -> Self {
        if name.ends_with("-wal") {
            Self::Wal
        } else if name.ends_with("-journal") {
            Self::Journal
        } else if name.ends_with(".db") {
            Self::Database
        } else {
            Self::Other
        }
    }
}

/// A change of what is in a file.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Write { offset: usize, bytes: Arc<[u8]> },
    Truncate { size: usize },
}

/// A change of a folder.
#[derive(Clone, Debug)]
pub(crate) enum Naming {
    Create { name: String, file: FileId },
    Delete { name: String },
}

/// One entry of a record.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Change { file: FileId, change: Change },
    Sync(FileId),
    FailedSync(FileId),
    Naming(Naming),
    SyncFolder,
}
