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

use std::cell::RefCell;
use std::ptr::NonNull;

pub(crate) use super::table::LiveCown;
use super::table::{BATCH, Table, TableEntry};
use crate::ids::RuntimeId;
use crate::queue::header::CownHeader;
use crate::sched::runtime_handle::RuntimeHandle;

/// The position of a cown in the table.
use crate::queue::interruptible::Listed;

static TABLE: Table = Table::new();

thread_local! {
    static SPARE: Spare = const { Spare(RefCell::new(Vec::new())) };
}

/// The spare entries of a thread.
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
pub(super) fn insert(cown: NonNull<CownHeader>, home: RuntimeId) -> Listed {
    let entry = SPARE.try_with(Spare::take).unwrap_or_else(|_| take_one());
    entry.fill(cown, home);
    Listed(std::ptr::from_ref(entry).cast())
}

/// Removes a cown before its block is freed.
#[inline]
pub(super) fn remove(entry: Listed) {
    // SAFETY: it was created by `insert`, and entries are never freed.
    let entry: &'static TableEntry = unsafe { &*entry.0.cast() };
    TABLE.empty(entry);
    if SPARE.try_with(|spare| spare.give(entry)).is_err() {
        TABLE.give_spare([entry].into_iter());
    }
}

/// Records that an interruptible cown is about to be moved.
pub(crate) fn note_move() {
    TABLE.note_move();
}

/// Returns the cowns of some runtimes whose state has not ended, and keeps them alive.
pub(crate) fn find(homes: &[RuntimeHandle]) -> Vec<LiveCown> {
    TABLE.find(homes)
}
