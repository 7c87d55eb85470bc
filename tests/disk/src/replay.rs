//! What is left on the disk when the power fails at some point of a record.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::dice::Dice;
use crate::record::{Change, Entry, FileId, Kind, Naming};

/// What a disk writes as a whole, or not at all.
const SECTOR: usize = 512;

/// What is kept of what was not synced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    /// Nothing.
    Nothing,
    /// All of it: the process was killed, and the system goes on.
    All,
    /// What came first, up to some point within a write.
    Prefix,
    /// Some writes, and not others.
    Some,
    /// Some sectors of some writes.
    Sectors,
}

impl Keep {
    /// Each way.
    pub const EACH: [Self; 5] = [Self::Nothing, Self::All, Self::Prefix, Self::Some, Self::Sectors];
}

/// What becomes of what a failed sync should have written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailedSyncs {
    /// It waits for the next one.
    Wait,
    /// It is lost for good, or some of it, though it can still be read: what Linux does.
    Lose(Keep),
}

/// A record that is gone through again, up to a point.
#[derive(Debug)]
pub struct Replay {
    entries: Vec<Entry>,
    at: usize,
    files: Vec<File>,
    names: BTreeMap<String, FileId>,
    namings: Vec<Naming>,
    failed: FailedSyncs,
    dice: Dice,
}

/// What is synced of a file, and what came since.
#[derive(Clone, Default, Debug)]
struct File {
    synced: Vec<u8>,
    since: Vec<Change>,
}

impl Replay {
    pub(crate) fn new(
        first: &BTreeMap<String, Vec<u8>>,
        entries: Vec<Entry>,
        failed: FailedSyncs,
        dice: Dice,
    ) -> Self {
        let files = first.values().map(|synced| File { synced: synced.clone(), since: Vec::new() });
        let names = first.keys().enumerate().map(|(id, name)| (name.clone(), FileId(id)));
        Self {
            files: files.collect(),
            names: names.collect(),
            entries,
            at: 0,
            namings: Vec::new(),
            failed,
            dice,
        }
    }

    /// How many entries the record has.
    #[must_use]
    pub fn end(&self) -> usize {
        self.entries.len()
    }

    /// How many writes of this length there are in the whole record, to files of a kind.
    #[must_use]
    pub fn writes(&self, kind: Kind, len: usize) -> usize {
        let mut kinds: Vec<Kind> = self.names.keys().map(|name| Kind::of(name)).collect();
        let mut count = 0;
        for entry in &self.entries {
            match entry {
                Entry::Naming(Naming::Create { name, .. }) => kinds.push(Kind::of(name)),
                Entry::Change { file, change: Change::Write { bytes, .. } } => {
                    count += usize::from(kinds[file.0] == kind && bytes.len() == len);
                }
                _ => {}
            }
        }
        count
    }

    /// Goes on to a point.
    ///
    /// # Panics
    /// If it is behind that already.
    pub fn advance(&mut self, to: usize) {
        assert!(to >= self.at, "a replay goes forwards");
        for at in self.at..to {
            let entry = self.entries[at].clone();
            self.apply(entry);
        }
        self.at = to;
    }

    fn file(&mut self, file: FileId) -> &mut File {
        if self.files.len() <= file.0 {
            self.files.resize(file.0 + 1, File::default());
        }
        &mut self.files[file.0]
    }

    fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Change { file, change } => self.file(file).since.push(change),
            Entry::Sync(file) => self.file(file).sync(),
            Entry::FailedSync(file) => {
                if let FailedSyncs::Lose(keep) = self.failed {
                    let mut dice = self.dice.clone();
                    self.dice.below(2);
                    let file = self.file(file);
                    file.synced = file.left(keep, &mut dice);
                    file.since.clear();
                }
            }
            Entry::Naming(naming) => self.namings.push(naming),
            Entry::SyncFolder => {
                let namings = std::mem::take(&mut self.namings);
                namings.iter().for_each(|naming| name(&mut self.names, naming));
            }
        }
    }

    /// What is on the disk if the power fails now.
    pub fn image(&mut self, keep: Keep) -> Image {
        let mut names = self.names.clone();
        for naming in &self.namings {
            let is_kept = match keep {
                Keep::Nothing => false,
                Keep::All => true,
                _ => self.dice.once_in(2),
            };
            if is_kept {
                name(&mut names, naming);
            }
        }
        let (files, dice) = (&self.files, &mut self.dice);
        let left = names.into_iter().map(|(name, file)| {
            (name, files.get(file.0).map(|file| file.left(keep, dice)).unwrap_or_default())
        });
        Image { files: left.collect() }
    }
}

fn name(names: &mut BTreeMap<String, FileId>, naming: &Naming) {
    match naming {
        Naming::Create { name, file } => drop(names.insert(name.clone(), *file)),
        Naming::Delete { name } => drop(names.remove(name)),
    }
}

impl File {
    fn sync(&mut self) {
        let since = std::mem::take(&mut self.since);
        since.iter().for_each(|change| apply(&mut self.synced, change));
    }

    /// What is left of it.
    fn left(&self, keep: Keep, dice: &mut Dice) -> Vec<u8> {
        let mut left = self.synced.clone();
        let count = match keep {
            Keep::Nothing => 0,
            Keep::Prefix => dice.below(self.since.len() + 1),
            Keep::All | Keep::Some | Keep::Sectors => self.since.len(),
        };
        for change in &self.since[..count] {
            if matches!(keep, Keep::Some | Keep::Sectors) && dice.once_in(2) {
                continue;
            }
            match change {
                Change::Write { offset, bytes } if keep == Keep::Sectors => {
                    let kept = sectors(*offset, bytes.len()).filter(|_| dice.once_in(2));
                    kept.for_each(|(from, to)| write(&mut left, offset + from, &bytes[from..to]));
                }
                change => apply(&mut left, change),
            }
        }
        if let (Keep::Prefix, Some(Change::Write { offset, bytes })) = (keep, self.since.get(count))
        {
            let whole = sectors(*offset, bytes.len());
            let torn = dice.below(whole.clone().count() + 1);
            let len = whole.take(torn).last().map_or(0, |(_, to)| to);
            write(&mut left, *offset, &bytes[..len]);
        }
        left
    }
}

/// The parts of a write that lie in one sector each: from where to where.
fn sectors(offset: usize, len: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let first = SECTOR - offset % SECTOR;
    let ends = (first..len).step_by(SECTOR).chain(std::iter::once(len));
    let starts = std::iter::once(0).chain((first..len).step_by(SECTOR));
    starts.zip(ends)
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { offset, bytes: written } => write(bytes, *offset, written),
        Change::Truncate { size } => bytes.resize(*size, 0),
    }
}

fn write(bytes: &mut Vec<u8>, offset: usize, written: &[u8]) {
    if written.is_empty() {
        return;
    }
    let end = offset + written.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset..end].copy_from_slice(written);
}

/// The files that are left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    files: BTreeMap<String, Vec<u8>>,
}

impl Image {
    pub(crate) fn new(files: BTreeMap<String, Vec<u8>>) -> Self {
        Self { files }
    }

    pub(crate) fn into_files(self) -> BTreeMap<String, Vec<u8>> {
        self.files
    }

    /// Writes them into a folder.
    ///
    /// # Errors
    /// Fails if the system refuses it.
    pub fn write_to(&self, folder: &Path) -> io::Result<()> {
        self.files.iter().try_for_each(|(name, bytes)| fs::write(folder.join(name), bytes))
    }

    /// What is in a file, if it is there.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_entry(file: usize, offset: usize, bytes: &[u8]) -> Entry {
        Entry::Change { file: FileId(file), change: Change::Write { offset, bytes: bytes.into() } }
    }

    fn replay(entries: Vec<Entry>, failed: FailedSyncs, seed: u64) -> Replay {
        let first = BTreeMap::from([("a.db".to_owned(), vec![0; 4])]);
        let mut replay = Replay::new(&first, entries, failed, Dice::new(seed));
        replay.advance(replay.end());
        replay
    }

    #[test]
    fn what_is_synced_is_there_and_of_the_rest_any_part() {
        let entries = vec![
            write_entry(0, 0, b"ab"),
            Entry::Sync(FileId(0)),
            write_entry(0, 1, b"X"),
            write_entry(0, 3, b"Y"),
        ];
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..100 {
            let image = replay(entries.clone(), FailedSyncs::Wait, seed).image(Keep::Some);
            seen.insert(image.file("a.db").unwrap().to_vec());
        }
        let all: [&[u8]; 4] = [b"ab\0\0", b"ab\0Y", b"aX\0\0", b"aX\0Y"];
        assert_eq!(seen, all.iter().map(|bytes| bytes.to_vec()).collect());
    }

    #[test]
    fn writes_are_torn_at_sectors_of_the_file() {
        assert_eq!(sectors(500, 600).collect::<Vec<_>>(), [(0, 12), (12, 524), (524, 600)]);
        assert_eq!(sectors(512, 512).collect::<Vec<_>>(), [(0, 512)]);
        let entries = vec![write_entry(0, 500, &[1; 600])];
        let mut lengths = std::collections::BTreeSet::new();
        for seed in 0..100 {
            let image = replay(entries.clone(), FailedSyncs::Wait, seed).image(Keep::Prefix);
            lengths.insert(image.file("a.db").unwrap().len());
        }
        assert_eq!(lengths, [4, 512, 1024, 1100].into());
    }

    #[test]
    fn what_a_failed_sync_has_lost_stays_lost() {
        let entries = vec![
            write_entry(0, 0, b"a"),
            Entry::FailedSync(FileId(0)),
            write_entry(0, 1, b"b"),
            Entry::Sync(FileId(0)),
        ];
        let lost = replay(entries.clone(), FailedSyncs::Lose(Keep::Nothing), 0).image(Keep::All);
        assert_eq!(lost.file("a.db").unwrap(), b"\0b\0\0");
        let waits = replay(entries, FailedSyncs::Wait, 0).image(Keep::Nothing);
        assert_eq!(waits.file("a.db").unwrap(), b"ab\0\0");
    }

    #[test]
    fn names_are_there_when_the_folder_is_synced() {
        let create = Naming::Create { name: "a.db-wal".into(), file: FileId(1) };
        let entries = vec![
            Entry::Naming(create),
            write_entry(1, 0, b"w"),
            Entry::Sync(FileId(1)),
            Entry::Naming(Naming::Delete { name: "a.db".into() }),
            Entry::SyncFolder,
        ];
        let mut first = replay(entries[..3].to_vec(), FailedSyncs::Wait, 0);
        assert_eq!(first.image(Keep::Nothing).file("a.db-wal"), None);
        assert_eq!(first.image(Keep::All).file("a.db-wal").unwrap(), b"w");
        let synced = replay(entries, FailedSyncs::Wait, 0).image(Keep::Nothing);
        assert_eq!((synced.file("a.db"), synced.file("a.db-wal").unwrap()), (None, &b"w"[..]));
    }
}
