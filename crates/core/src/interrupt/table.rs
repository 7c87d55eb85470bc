//! The table of all interruptible cowns: what `registry.rs` has in a static, and models run.
//!
//! Actors come and go all the time, and are searched for when a runtime ends. So to come and to go costs plain stores in
//! an entry that nobody else writes, and searchers pay: they say that they search, with a [heavy](asym::heavy) barrier,
//! and who goes looks for that behind a [light](asym::light) one.
//!
//! ```text
//!   one that goes                         one that searches (has the lock)
//!   entry: empty                          searching: set
//!   asym::light()                         asym::heavy()
//!   searching?  no:  the block is freed   entry?  empty: skipped
//!               yes: wait for the lock            else:  its cown is looked at
//!                                         searching: clear
//! ```
//!
//! *Nobody looks at a block that is freed.* By the two barriers, the searcher finds the entry empty, or the one that goes
//! sees that it searches, and waits for its end before it frees the block. If it sees that nobody searches any more, it
//! has acquired the end of the search.

use std::ptr::{NonNull, null_mut};

use coact_sync::asym;

use crate::ids::RuntimeId;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::interruptible;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::statics::{AtomicBool, AtomicPtr, AtomicU32, Mutex, Ordering};

/// How many entries are made at a time, and how many a thread takes.
const ROW: usize = if cfg!(loom) { 2 } else { 256 };
pub(super) const BATCH: usize = ROW.div_ceil(4);

/// Where a cown stands. Entries are made in rows, which stay.
pub(crate) struct TableEntry {
    /// Null if none does.
    cown: AtomicPtr<CownHeader>,
    /// The cown's runtime when it came.
    home: AtomicU32,
}

impl TableEntry {
    fn new() -> Self {
        Self { cown: AtomicPtr::new(null_mut()), home: AtomicU32::new(0) }
    }

    /// Puts a fresh cown into an entry that nobody else uses.
    #[inline]
    pub(super) fn fill(&self, cown: NonNull<CownHeader>, home: RuntimeId) {
        // ORDERING: Relaxed; published with the cown. Release pairs with the acquire in `find`: the header is there.
        self.home.store(home.get().into(), Ordering::Relaxed);
        self.cown.store(cown.as_ptr(), Ordering::Release);
    }
}

pub(super) struct Table {
    /// Whoever searches has the lock.
    rows: Mutex<Vec<&'static [TableEntry]>>,
    /// Entries without a cown that no thread has taken.
    spare: Mutex<Vec<&'static TableEntry>>,
    /// Whether somebody searches.
    searching: AtomicBool,
    /// Whether an interruptible cown was ever moved to another runtime.
    moved: AtomicBool,
}

impl Table {
    #[cfg(not(all(test, loom)))]
    pub(super) const fn new() -> Self {
        Self {
            rows: Mutex::new(Vec::new()),
            spare: Mutex::new(Vec::new()),
            searching: AtomicBool::new(false),
            moved: AtomicBool::new(false),
        }
    }

    /// A model's atomics are not constant.
    #[cfg(all(test, loom))]
    pub(super) fn new() -> Self {
        Self {
            rows: Mutex::new(Vec::new()),
            spare: Mutex::new(Vec::new()),
            searching: AtomicBool::new(false),
            moved: AtomicBool::new(false),
        }
    }

    /// Takes some entries out of which cowns can make theirs.
    #[cold]
    pub(super) fn take_spare(&self, entries: &mut Vec<&'static TableEntry>) {
        let mut spare = self.spare.lock();
        if spare.is_empty() {
            let row: &'static [TableEntry] =
                Vec::from_iter((0..ROW).map(|_| TableEntry::new())).leak();
            self.rows.lock().push(row);
            spare.extend(row);
        }
        let left = spare.len().saturating_sub(BATCH);
        entries.extend(spare.drain(left..));
    }

    /// Gives entries back.
    #[cold]
    pub(super) fn give_spare(&self, entries: impl Iterator<Item = &'static TableEntry>) {
        self.spare.lock().extend(entries);
    }

    /// Empties a cown's entry, before its block is freed.
    #[inline]
    pub(super) fn empty(&self, entry: &TableEntry) {
        // ORDERING: Relaxed. The barrier orders it before the look; see the module.
        entry.cown.store(null_mut(), Ordering::Relaxed);
        asym::light();
        // ORDERING: Acquire pairs with the release at the end of `find`.
        if self.searching.load(Ordering::Acquire) {
            self.wait_for_search();
        }
    }

    #[cold]
    fn wait_for_search(&self) {
        drop(self.rows.lock());
    }

    /// An interruptible cown is about to be moved.
    pub(super) fn note_move(&self) {
        // ORDERING: Relaxed. Who was told of the move, by whatever means, sees the note in `find`; for a
        // move that nobody was told of there are the fences in `moved` and `cut_off`.
        self.moved.store(true, Ordering::Relaxed);
    }

    /// The cowns of some runtimes whose state has not ended. Each is kept alive by what this returns.
    pub(super) fn find(&self, homes: &[RuntimeHandle]) -> Vec<LiveCown> {
        let rows = self.rows.lock();
        // ORDERING: Relaxed. The barrier orders it before the looks at entries.
        self.searching.store(true, Ordering::Relaxed);
        asym::heavy();
        // ORDERING: Relaxed, as in `note_move`.
        let moved = self.moved.load(Ordering::Relaxed);
        let is_of = |home| homes.contains(&RuntimeHandle(home));
        let mut found = Vec::new();
        for entry in rows.iter().copied().flatten() {
            // ORDERING: Acquire pairs with the release in `fill`. Relaxed, the home: that of this cown, or of a later
            // one in its place, if it is gone.
            let cown = NonNull::new(entry.cown.load(Ordering::Acquire));
            let home = entry.home.load(Ordering::Relaxed);
            let Some(cown) = cown.filter(|_| moved || is_of(RuntimeId::from_raw(home as u16)))
            else {
                continue;
            };
            // SAFETY: its block, and the leader of its group, are not freed before the search has ended. Others' cowns
            // are only looked at: a handle of theirs could be the last one for a moment, and their runtime would not
            // know of its last-handle check.
            let header = unsafe { cown.as_ref() };
            if is_of(header.home()) && !header.has(Flags::CLOSED) && header.counts.retain() {
                found.push(LiveCown(cown));
            }
        }
        // ORDERING: Release pairs with the acquire in `empty`: who sees it may free what was looked at.
        self.searching.store(false, Ordering::Release);
        found
    }
}

/// A handle of an interruptible cown, whatever its type.
pub(crate) struct LiveCown(NonNull<CownHeader>);

impl LiveCown {
    /// Tells two of them apart, as long as both live; that with the greater number is the younger one.
    pub(crate) fn number(&self) -> (u64, usize) {
        // SAFETY: interruptible, and kept alive by the handle.
        let number = unsafe { (interruptible::kind(self.0).number)(self.0) };
        (number, self.0.as_ptr().addr())
    }

    /// Tells the state that its runtime ends, and has it interrupted.
    pub(crate) fn end(&self, ending: &crate::sched::ending::Ending) {
        // SAFETY: as above.
        unsafe { (interruptible::kind(self.0).end)(self.0, ending) };
    }

    /// Has the state interrupted.
    pub(crate) fn interrupt(&self) {
        // SAFETY: as above.
        unsafe { super::interrupt(self.0) };
    }
}

impl Drop for LiveCown {
    fn drop(&mut self) {
        // SAFETY: the handle's count, which ends here.
        unsafe { (interruptible::kind(self.0).release)(self.0) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
