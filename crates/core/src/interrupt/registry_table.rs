//! The table of all interruptible cowns: `registry.rs` has one in a static, and models create their
//! own.
//!
//! Actors come and go all the time, and are searched for when a runtime ends. So adding and
//! removing cost plain stores in an entry that no other thread writes, and searches pay: they
//! announce themselves with a [heavy](asym::heavy) barrier, and a removal checks for that behind a
//! [light](asym::light) one.
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
//! *A freed block is never accessed.* By the two barriers, either the search finds the entry empty,
//! or the removing thread sees the search and waits for its end before it frees the block. If it
//! sees that there is no longer a search, it has acquired the end of the search.

use std::ptr::{NonNull, null_mut};

use coact_sync::asym;

use super::send_interrupt::interrupt;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::interrupt_header;
use crate::queue::live_cown::LiveCown;
use crate::runtime_ids::RuntimeId;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::static_shim::{AtomicBool, AtomicPtr, AtomicU32, Mutex, Ordering};

/// The number of entries allocated at a time, and taken by a thread at a time.
const ROW: usize = if cfg!(loom) { 2 } else { 256 };
pub(super) const BATCH: usize = ROW.div_ceil(4);

/// The entry of a cown. Entries are allocated in rows, which are never freed.
pub(crate) struct TableEntry {
    /// Null if unused.
    cown: AtomicPtr<CownHeader>,
    /// The cown's runtime when it was added.
    home: AtomicU32,
}

impl TableEntry {
    fn new() -> Self {
        Self { cown: AtomicPtr::new(null_mut()), home: AtomicU32::new(0) }
    }

    /// Adds a new cown in an entry that no other thread uses.
    #[inline]
    pub(super) fn fill(&self, cown: LiveCown, home: RuntimeId) {
        // ORDERING: Relaxed; published with the cown. Release pairs with the Acquire in `find`: the
        // header is initialised.
        self.home.store(home.get().into(), Ordering::Relaxed);
        self.cown.store(cown.as_ptr(), Ordering::Release);
    }
}

pub(super) struct CownTable {
    /// Searches hold the lock.
    rows: Mutex<Vec<&'static [TableEntry]>>,
    /// Unused entries that no thread has taken.
    spare: Mutex<Vec<&'static TableEntry>>,
    /// Whether there is a search.
    searching: AtomicBool,
    /// Whether an interruptible cown was ever moved to another runtime.
    moved: AtomicBool,
}

impl CownTable {
    #[cfg(not(all(test, loom)))]
    pub(super) const fn new() -> Self {
        Self {
            rows: Mutex::new(Vec::new()),
            spare: Mutex::new(Vec::new()),
            searching: AtomicBool::new(false),
            moved: AtomicBool::new(false),
        }
    }

    /// A model's atomics have no constant constructor.
    #[cfg(all(test, loom))]
    pub(super) fn new() -> Self {
        Self {
            rows: Mutex::new(Vec::new()),
            spare: Mutex::new(Vec::new()),
            searching: AtomicBool::new(false),
            moved: AtomicBool::new(false),
        }
    }

    /// Takes some unused entries.
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

    /// Returns entries.
    #[cold]
    pub(super) fn give_spare(&self, entries: impl Iterator<Item = &'static TableEntry>) {
        self.spare.lock().extend(entries);
    }

    /// Empties a cown's entry before its block is freed.
    #[inline]
    pub(super) fn empty(&self, entry: &TableEntry) {
        // ORDERING: Relaxed. The barrier orders it before the check; see the module.
        entry.cown.store(null_mut(), Ordering::Relaxed);
        asym::light();
        // ORDERING: Acquire pairs with the Release at the end of `find`.
        if self.searching.load(Ordering::Acquire) {
            self.wait_for_search();
        }
    }

    #[cold]
    fn wait_for_search(&self) {
        drop(self.rows.lock());
    }

    /// Records that an interruptible cown is about to be moved.
    pub(super) fn note_move(&self) {
        // ORDERING: Relaxed. A thread that was told of the move, by whatever means, sees the record
        // in `find`; for an unannounced move there are the fences in `moved` and `cut_off`.
        self.moved.store(true, Ordering::Relaxed);
    }

    /// Returns the cowns of some runtimes whose state has not ended, and keeps them alive. Their
    /// order is that of the entries, which means nothing.
    pub(super) fn find(&self, homes: &[RuntimeHandle]) -> Vec<ListedCown> {
        let rows = self.rows.lock();
        // ORDERING: Relaxed. The barrier orders it before the loads of entries.
        self.searching.store(true, Ordering::Relaxed);
        asym::heavy();
        // ORDERING: Relaxed, see `note_move`.
        let moved = self.moved.load(Ordering::Relaxed);
        let is_of = |home| homes.contains(&RuntimeHandle(home));
        let mut found = Vec::new();
        for entry in rows.iter().copied().flatten() {
            // ORDERING: Acquire pairs with the Release in `fill`. Relaxed for the home: that of
            // this cown, or of a later one in the same entry if this one is gone.
            let cown = NonNull::new(entry.cown.load(Ordering::Acquire));
            let home = entry.home.load(Ordering::Relaxed);
            let Some(cown) = cown.filter(|_| moved || is_of(RuntimeId::from_raw(home as u16)))
            else {
                continue;
            };
            // SAFETY: its block, and the leader of its group, are not freed before the search has
            // ended. Other runtimes' cowns are only read: a handle of one could become the last for
            // a moment, and its runtime would not know of the last-handle check.
            let cown = unsafe { LiveCown::new(cown) };
            let header = cown.header();
            if is_of(header.home()) && !header.has(Flags::CLOSED) && header.counts.retain() {
                found.push(ListedCown(cown));
            }
        }
        // ORDERING: Release pairs with the Acquire in `empty`: a thread that sees it may free what
        // was read.
        self.searching.store(false, Ordering::Release);
        found
    }
}

/// A handle of an interruptible cown of any type.
pub(crate) struct ListedCown(LiveCown);

impl ListedCown {
    /// Distinguishes two of them as long as both live; the one with the greater number is younger.
    pub(crate) fn number(&self) -> (u64, usize) {
        // SAFETY: the cown is interruptible, and this handle keeps it alive.
        let number = unsafe { (interrupt_header::vtable(self.0).number)(self.0) };
        (number, self.0.rank())
    }

    /// Tells the state that its runtime ends, and interrupts it.
    pub(crate) fn end(&self, ending: &crate::sched::ending::Ending) {
        // SAFETY: the cown is interruptible, and this handle keeps it alive.
        unsafe { (interrupt_header::vtable(self.0).end)(self.0, ending) };
    }

    /// Interrupts the state.
    pub(crate) fn interrupt(&self) {
        // SAFETY: the cown is interruptible, and this handle keeps it alive.
        unsafe { interrupt(self.0) };
    }
}

impl Drop for ListedCown {
    fn drop(&mut self) {
        // SAFETY: this handle owns its count, and gives it up once.
        unsafe { (interrupt_header::vtable(self.0).release)(self.0) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
