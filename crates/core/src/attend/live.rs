//! All cowns that are attended to: how the end of a runtime finds what lives in it.
//!
//! One table for the whole process, in shards, each with a lock. A cown is put into the shard of the
//! thread that makes it, and taken out when its block is freed: two short locks that hardly ever
//! meet. The table owns nothing. It notes the runtime beside each cown, so that a search skips those
//! of other runtimes without touching them; once a cown that is attended to has been moved, no note
//! can be trusted any more, and searches look at the cowns themselves.

use std::ptr::NonNull;

use coact_sync::CachePadded;

pub(crate) use super::table::{Entry, Living};
use super::table::{Shard, Table};
use crate::cown::header::CownHeader;
use crate::runtime::{Home, RuntimeId};
use crate::statics::{AtomicBool, Mutex};

/// More than threads that make actors at the same time.
const SHARDS: usize = 64;

static TABLE: Table<SHARDS> = Table {
    shards: [const { CachePadded::new(Mutex::new(Shard::new())) }; SHARDS],
    moved: AtomicBool::new(false),
};

/// Puts a fresh cown into the table.
#[inline]
pub(super) fn insert(cown: NonNull<CownHeader>, home: RuntimeId) -> Entry {
    TABLE.insert(cown, home)
}

/// Takes a cown out, before its block is freed.
#[inline]
pub(super) fn remove(entry: Entry) {
    TABLE.remove(entry);
}

/// A cown that is attended to is about to be moved.
pub(crate) fn note_move() {
    TABLE.note_move();
}

/// The cowns of some runtimes whose state has not ended. Each is kept alive by what this returns.
pub(crate) fn find(homes: &[Home]) -> Vec<Living> {
    TABLE.find(homes)
}
