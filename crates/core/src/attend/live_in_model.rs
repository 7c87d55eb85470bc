//! The twin of `live.rs` for models: in most of them no runtime ends, and the table's locks would only add
//! to the order. A model that ends one [asks](use_table) for a table of its own.

use std::cell::Cell;
use std::ptr::NonNull;

use coact_sync::CachePadded;

pub(crate) use super::table::{Entry, Living};
use super::table::{Shard, Table};
use crate::cown::header::CownHeader;
use crate::runtime::{Home, RuntimeId};
use crate::statics::{AtomicBool, Mutex};

thread_local! {
    /// Of the system's thread, on which all threads of a model run.
    static USED: Cell<bool> = const { Cell::new(false) };
}

::loom::lazy_static! {
    static ref TABLE: Table<1> = Table {
        shards: [CachePadded::new(Mutex::new(Shard::new()))],
        moved: AtomicBool::new(false),
    };
}

/// Has the cowns of this model found.
pub(super) fn use_table() {
    USED.set(true);
    // Made before there are other threads, which would make it one after the other.
    let _ = TABLE.find(&[]);
}

pub(super) fn insert(cown: NonNull<CownHeader>, home: RuntimeId) -> Entry {
    if USED.get() { TABLE.insert(cown, home) } else { Entry::default() }
}

pub(super) fn remove(entry: Entry) {
    if USED.get() {
        TABLE.remove(entry);
    }
}

pub(crate) fn note_move() {
    if USED.get() {
        TABLE.note_move();
    }
}

pub(crate) fn find(homes: &[Home]) -> Vec<Living> {
    if USED.get() { TABLE.find(homes) } else { Vec::new() }
}
