//! What tests have in hand.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::dice::Dice;
use crate::folder::{Fault, Folder, Operation, State, WATCHED, lock};
use crate::record::FileId;
use crate::replay::{FailedSyncs, Image, Replay};

/// The disk below a folder. It is that until this is dropped.
pub struct Disk {
    folder: Arc<Folder>,
}

impl Debug for Disk {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").field("folder", &self.folder.path).finish_non_exhaustive()
    }
}

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

    /// The same, where the disk has something else than what can be read: after a sync has failed,
    /// and the process was killed.
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
