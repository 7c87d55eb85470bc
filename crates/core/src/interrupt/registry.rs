//! All interruptible cowns: how the end of a runtime finds what lives in it.
//!
//! One table for the whole process; it owns nothing. A thread has some entries of it at hand, for the cowns that it makes,
//! and keeps those of the cowns that it frees. The table notes the runtime beside each cown, so that a search skips those
//! of other runtimes without touching them; once an interruptible cown has been moved, no note can be trusted any
//! more, and searches look at the cowns themselves.
//!
//! Entries are used again, and not given back: 16 bytes for each of the most cowns that were there at a time.

use std::cell::RefCell;
use std::ptr::NonNull;

pub(crate) use super::table::LiveCown;
use super::table::{BATCH, Table, TableEntry};
use crate::ids::RuntimeId;
use crate::queue::header::CownHeader;
use crate::sched::runtime_handle::RuntimeHandle;

/// Where a cown stands in the table.
use crate::queue::interruptible::Listed;

static TABLE: Table = Table::new();

thread_local! {
    static SPARE: Spare = const { Spare(RefCell::new(Vec::new())) };
}

/// The entries that a thread has at hand.
struct Spare(RefCell<Vec<&'static TableEntry>>);

impl Spare {
    #[inline]
    fn take(&self) -> &'static TableEntry {
        let mut entries = self.0.borrow_mut();
        if entries.is_empty() {
            TABLE.take_spare(&mut entries);
        }
        entries.pop().expect("at least one was taken")
    }

    #[inline]
    fn give(&self, entry: &'static TableEntry) {
        let mut entries = self.0.borrow_mut();
        entries.push(entry);
        if entries.len() > 2 * BATCH {
            TABLE.give_spare(entries.drain(BATCH..));
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        TABLE.give_spare(self.0.take().into_iter());
    }
}

/// One for a thread that is at its end, and has none at hand.
#[cold]
fn take_one() -> &'static TableEntry {
    let mut entries = Vec::new();
    TABLE.take_spare(&mut entries);
    let entry = entries.pop().expect("at least one was taken");
    TABLE.give_spare(entries.into_iter());
    entry
}

/// Puts a fresh cown into the table.
#[inline]
pub(super) fn insert(cown: NonNull<CownHeader>, home: RuntimeId) -> Listed {
    let entry = SPARE.try_with(Spare::take).unwrap_or_else(|_| take_one());
    entry.fill(cown, home);
    Listed(std::ptr::from_ref(entry).cast())
}

/// Takes a cown out, before its block is freed.
#[inline]
pub(super) fn remove(entry: Listed) {
    // SAFETY: it is what `insert` has made, and entries are for ever.
    let entry: &'static TableEntry = unsafe { &*entry.0.cast() };
    TABLE.empty(entry);
    if SPARE.try_with(|spare| spare.give(entry)).is_err() {
        TABLE.give_spare([entry].into_iter());
    }
}

/// An interruptible cown is about to be moved.
pub(crate) fn note_move() {
    TABLE.note_move();
}

/// The cowns of some runtimes whose state has not ended. Each is kept alive by what this returns.
pub(crate) fn find(homes: &[RuntimeHandle]) -> Vec<LiveCown> {
    TABLE.find(homes)
}
