//! The registry of interruptible cowns: how the end of a runtime finds those that live in it.
//!
//! One table for the whole process, which owns nothing. A thread has some spare entries for the
//! cowns that it creates, and keeps those of the cowns that it frees. The table records the runtime
//! of each cown, so a search skips cowns of other runtimes without touching them; once an
//! interruptible cown has been moved, no record is reliable any more, and searches read the cowns
//! themselves.
//!
//! Entries are reused but never freed: 16 bytes per cown, for the largest number that existed at
//! one time.

use std::cell::Cell;
use std::iter;

pub(crate) use super::registry_table::ListedCown;
use super::registry_table::{BATCH, CownTable, TableEntry};
use crate::queue::live_cown::LiveCown;
use crate::runtime_ids::RuntimeId;
use crate::sched::runtime_handle::RuntimeHandle;

/// The position of a cown in the table.
use crate::queue::interrupt_header::TablePosition;

static TABLE: CownTable = CownTable::new();

thread_local! {
    static SPARE: SpareEntries = const { SpareEntries::new() };
}

/// The spare entries of a thread, in an array that is filled from its start.
struct SpareEntries {
    len: Cell<usize>,
    entries: [Cell<Option<&'static TableEntry>>; MAX_SPARE],
}

/// The largest number of spare entries of a thread.
const MAX_SPARE: usize = 2 * BATCH;

impl SpareEntries {
    const fn new() -> Self {
        Self { len: Cell::new(0), entries: [const { Cell::new(None) }; MAX_SPARE] }
    }

    #[inline]
    fn take(&self) -> &'static TableEntry {
        self.pop().unwrap_or_else(|| self.refill())
    }

    #[inline]
    fn pop(&self) -> Option<&'static TableEntry> {
        let last = self.len.get().checked_sub(1)?;
        self.len.set(last);
        self.entries.get(last)?.get()
    }

    /// Takes some from the table, and returns one of them.
    #[cold]
    fn refill(&self) -> &'static TableEntry {
        let mut taken = Vec::new();
        TABLE.take_spare(&mut taken);
        let entry = taken.pop().expect("at least one was taken");
        taken.into_iter().for_each(|entry| self.give(entry));
        entry
    }

    #[inline]
    fn give(&self, entry: &'static TableEntry) {
        let place = match self.entries.get(self.len.get()) {
            Some(place) => place,
            None => self.make_room(),
        };
        place.set(Some(entry));
        self.len.set(self.len.get() + 1);
    }

    /// Returns some to the table; returns the first free place.
    #[cold]
    fn make_room(&self) -> &Cell<Option<&'static TableEntry>> {
        TABLE.give_spare((0..BATCH).filter_map(|_| self.pop()));
        &self.entries[self.len.get()]
    }
}

impl Drop for SpareEntries {
    fn drop(&mut self) {
        TABLE.give_spare(iter::from_fn(|| self.pop()));
    }
}

/// Takes one for a thread that is ending, and has no spare ones.
#[cold]
fn take_one() -> &'static TableEntry {
    let mut entries = Vec::new();
    TABLE.take_spare(&mut entries);
    let entry = entries.pop().expect("at least one was taken");
    TABLE.give_spare(entries.into_iter());
    entry
}

/// Adds a new cown to the table.
#[inline]
pub(super) fn insert(cown: LiveCown, home: RuntimeId) -> TablePosition {
    let entry = SPARE.try_with(SpareEntries::take).unwrap_or_else(|_| take_one());
    entry.fill(cown, home);
    TablePosition(std::ptr::from_ref(entry).cast())
}

/// Removes a cown, if it is in the table, before its block is freed.
#[inline]
pub(super) fn remove(entry: TablePosition) {
    // SAFETY: it was created by `insert`, or is null; entries are never freed.
    let entry = unsafe { entry.0.cast::<TableEntry>().as_ref() };
    let Some(entry) = entry else { return };
    TABLE.empty(entry);
    if SPARE.try_with(|spare| spare.give(entry)).is_err() {
        TABLE.give_spare([entry].into_iter());
    }
}

/// Records that an interruptible cown is about to be moved.
pub(crate) fn note_move() {
    TABLE.note_move();
}

/// Returns the cowns of some runtimes whose state has not ended, and keeps them alive. Their order
/// means nothing: it depends on which entries earlier cowns have left.
pub(crate) fn find(homes: &[RuntimeHandle]) -> Vec<ListedCown> {
    TABLE.find(homes)
}
