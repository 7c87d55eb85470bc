//! The twin of `registry.rs` for models: in most of them no runtime ends, and the table would only
//! add orderings. A model that ends one [asks](use_table) for a table.

use std::cell::Cell;

pub(crate) use super::registry_table::ListedCown;
use super::registry_table::{CownTable, TableEntry};
use crate::queue::interrupt_header::TablePosition;
use crate::queue::live_cown::LiveCown;
use crate::runtime_ids::RuntimeId;
use crate::sched::runtime_handle::RuntimeHandle;

thread_local! {
    /// Per system thread, on which all threads of a model run.
    static USED: Cell<bool> = const { Cell::new(false) };
}

::loom::lazy_static! {
    static ref TABLE: CownTable = CownTable::new();
}

/// Makes the cowns of this model findable.
pub(super) fn use_table() {
    USED.set(true);
    // Created before there are other threads, which would otherwise create it one after the other.
    let _ = TABLE.find(&[]);
}

pub(super) fn insert(cown: LiveCown, home: RuntimeId) -> TablePosition {
    let entry = USED.get().then(|| {
        let mut entries = Vec::new();
        TABLE.take_spare(&mut entries);
        let entry = entries.pop().expect("at least one was taken");
        TABLE.give_spare(entries.into_iter());
        entry.fill(cown, home);
        std::ptr::from_ref(entry)
    });
    entry.map_or(TablePosition::NOWHERE, |entry| TablePosition(entry.cast()))
}

pub(super) fn remove(entry: TablePosition) {
    // SAFETY: it was created by `insert`: null, or an entry, which is never freed.
    if let Some(entry) = unsafe { entry.0.cast::<TableEntry>().as_ref() } {
        TABLE.empty(entry);
    }
}

pub(crate) fn note_move() {
    if USED.get() {
        TABLE.note_move();
    }
}

pub(crate) fn find(homes: &[RuntimeHandle]) -> Vec<ListedCown> {
    if USED.get() { TABLE.find(homes) } else { Vec::new() }
}
