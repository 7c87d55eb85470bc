//! A folder that is watched: its record, and what fails in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::record::{Change, Entry, FileId, Kind, Naming};

/// What SQLite is about to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Writes some bytes.
    Write(Kind, usize),
    /// Cuts a file.
    Truncate(Kind),
    /// Has what was written put on the disk.
    Sync(Kind),
    /// Deletes a file.
    Delete(Kind),
}

/// What becomes of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It is done.
    None,
    /// It fails. Of a write the first bytes are there.
    Io {
        /// How many.
        kept: usize,
    },
    /// The disk is full. Of a write the first bytes are there.
    Full {
        /// How many.
        kept: usize,
    },
    /// A sync is told to be done, and is not.
    Ignored,
}

pub(crate) type Faults = dyn FnMut(Operation) -> Fault + Send;

/// All folders that are watched.
pub(crate) static WATCHED: Mutex<Vec<Arc<Folder>>> = Mutex::new(Vec::new());

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder with its record.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) first: BTreeMap<String, Vec<u8>>,
    pub(crate) state: Mutex<State>,
}

pub(crate) struct State {
    pub(crate) entries: Vec<Entry>,
    pub(crate) names: BTreeMap<String, FileId>,
    pub(crate) next: usize,
    pub(crate) faults: Option<Box<Faults>>,
}

impl State {
    pub(crate) fn delete(&mut self, name: &str) {
        if self.names.remove(name).is_some() {
            self.entries.push(Entry::Naming(Naming::Delete { name: name.to_owned() }));
        }
    }
}

/// The watched folder that a file is in, and its name there.
pub(crate) fn folder_of(path: &Path) -> Option<(Arc<Folder>, String)> {
    let parent = path.parent()?;
    let found = lock(&WATCHED).iter().find(|folder| folder.path == parent).cloned()?;
    Some((found, path.file_name()?.to_str()?.to_owned()))
}

/// The watched folder that this is.
pub(crate) fn folder_at(path: &Path) -> Option<Arc<Folder>> {
    lock(&WATCHED).iter().find(|folder| folder.path == path).cloned()
}

impl Folder {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// A file that is opened, and is created if it is not on the disk.
    pub(crate) fn open(&self, name: &str) -> FileId {
        let mut state = self.state();
        if let Some(file) = state.names.get(name) {
            return *file;
        }
        let file = FileId(state.next);
        state.next += 1;
        state.names.insert(name.to_owned(), file);
        state.entries.push(Entry::Naming(Naming::Create { name: name.to_owned(), file }));
        file
    }

    pub(crate) fn fault(&self, operation: Operation) -> Fault {
        self.state().faults.as_mut().map_or(Fault::None, |faults| faults(operation))
    }

    pub(crate) fn write(&self, file: FileId, offset: usize, bytes: &[u8]) {
        let change = Change::Write { offset, bytes: bytes.into() };
        self.state().entries.push(Entry::Change { file, change });
    }

    pub(crate) fn truncate(&self, file: FileId, size: usize) {
        let change = Change::Truncate { size };
        self.state().entries.push(Entry::Change { file, change });
    }

    pub(crate) fn sync(&self, file: FileId) {
        self.state().entries.push(Entry::Sync(file));
    }

    pub(crate) fn failed_sync(&self, file: FileId) {
        self.state().entries.push(Entry::FailedSync(file));
    }

    pub(crate) fn delete(&self, name: &str) {
        self.state().delete(name);
    }

    pub(crate) fn sync_folder(&self) {
        self.state().entries.push(Entry::SyncFolder);
    }
}
