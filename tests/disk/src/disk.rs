//! Who keeps the record of a folder, and says what fails.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::dice::Dice;
use crate::record::{Change, Entry, FileId, Kind, Naming};
use crate::replay::{FailedSyncs, Image, Replay};

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

type Faults = dyn FnMut(Operation) -> Fault + Send;

/// The disk below a folder. It is that until this is dropped.
pub struct Disk {
    folder: Arc<Folder>,
}

impl Debug for Disk {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").field("folder", &self.folder.path).finish_non_exhaustive()
    }
}

/// All folders that are watched.
static WATCHED: Mutex<Vec<Arc<Folder>>> = Mutex::new(Vec::new());

impl Disk {
    /// Watches the files that SQLite opens in a folder from now on. What is in them is on the disk.
    ///
    /// # Errors
    /// Fails if the folder cannot be read.
    pub fn watch(path: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for found in fs::read_dir(path)? {
            let found = found?;
            files.insert(found.file_name().to_string_lossy().into_owned(), fs::read(found.path())?);
        }
        Self::watch_over(path, Image::new(files))
    }

    /// The same, where the disk has something else than what can be read: after a sync has failed, and the process was killed.
    ///
    /// # Errors
    /// Fails if the folder is not there.
    pub fn watch_over(path: &Path, on_disk: Image) -> io::Result<Self> {
        crate::vfs::install();
        crate::direct::install();
        let path = path.canonicalize()?;
        let first = on_disk.into_files();
        let names = first.keys().enumerate().map(|(id, name)| (name.clone(), FileId(id)));
        let mut state =
            State { names: names.collect(), next: first.len(), entries: Vec::new(), faults: None };
        // A failed sync does not bring back what was deleted.
        for name in first.keys().filter(|name| !path.join(name).exists()) {
            state.delete(name);
        }
        let folder = Arc::new(Folder { path, first, state: Mutex::new(state) });
        lock(&WATCHED).push(Arc::clone(&folder));
        Ok(Self { folder })
    }

    /// Where the record is: what was told by now was told before what comes there.
    #[must_use]
    pub fn position(&self) -> usize {
        self.folder.state().entries.len()
    }

    /// Asks this about each operation from now on.
    pub fn fail(&self, faults: impl FnMut(Operation) -> Fault + Send + 'static) {
        self.folder.state().faults = Some(Box::new(faults));
    }

    /// Has no operation fail any more.
    pub fn heal(&self) {
        self.folder.state().faults = None;
    }

    /// The record, from its beginning.
    #[must_use]
    pub fn replay(&self, failed: FailedSyncs, dice: Dice) -> Replay {
        Replay::new(&self.folder.first, self.folder.state().entries.clone(), failed, dice)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        lock(&WATCHED).retain(|other| !Arc::ptr_eq(other, &self.folder));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder with its record.
pub(crate) struct Folder {
    path: PathBuf,
    first: BTreeMap<String, Vec<u8>>,
    state: Mutex<State>,
}

struct State {
    entries: Vec<Entry>,
    names: BTreeMap<String, FileId>,
    next: usize,
    faults: Option<Box<Faults>>,
}

impl State {
    fn delete(&mut self, name: &str) {
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
    fn state(&self) -> MutexGuard<'_, State> {
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
