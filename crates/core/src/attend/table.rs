//! The table of all cowns that are attended to: what `live.rs` has in a static, and models run.

use std::ptr::{NonNull, without_provenance_mut};

use coact_sync::CachePadded;

use super::guard;
use crate::cown::header::{CownHeader, Flags};
use crate::runtime::{Home, RuntimeId};
use crate::sched::context;
use crate::statics::{AtomicBool, Mutex, Ordering};

/// An empty shard is given back if it had room for more than this.
const KEPT: usize = 1024;

/// A table whose entries are spread over several locks.
pub(super) struct Table<const SHARDS: usize> {
    pub(super) shards: [CachePadded<Mutex<Shard>>; SHARDS],
    /// Whether a cown that is attended to was ever moved to another runtime.
    pub(super) moved: AtomicBool,
}

/// Where a cown stands in the table.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entry {
    shard: u32,
    index: u32,
}

impl<const SHARDS: usize> Table<SHARDS> {
    /// Puts a fresh cown into the shard of this thread.
    #[inline]
    pub(super) fn insert(&self, cown: NonNull<CownHeader>, home: RuntimeId) -> Entry {
        let shard = context::thread() as usize % SHARDS;
        let index = self.shards[shard].lock().insert(cown, home);
        Entry { shard: shard as u32, index }
    }

    /// Takes a cown out, before its block is freed.
    #[inline]
    pub(super) fn remove(&self, entry: Entry) {
        self.shards[entry.shard as usize].lock().remove(entry.index as usize);
    }

    /// A cown that is attended to is about to be moved.
    pub(super) fn note_move(&self) {
        // ORDERING: Relaxed. Who was told of the move, by whatever means, sees the note in `find`; for a
        // move that nobody was told of there are the fences in `moved` and `cut_off`.
        self.moved.store(true, Ordering::Relaxed);
    }

    /// The cowns of some runtimes whose state has not ended. Each is kept alive by what this returns.
    pub(super) fn find(&self, homes: &[Home]) -> Vec<Living> {
        // ORDERING: Relaxed, as in `note_move`. What it leads to is guarded by the shards' locks.
        let moved = self.moved.load(Ordering::Relaxed);
        let is_of = |home| homes.contains(&Home(home));
        let mut found = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock();
            for (home, cown) in shard.homes.iter().zip(&shard.cowns) {
                if *home == RuntimeId::NONE || !(moved || is_of(*home)) {
                    continue;
                }
                // SAFETY: it stands in the table, so its block, and the leader of its group, are not freed
                // before the lock is. Others' cowns are only looked at: a handle of theirs could be the last
                // one for a moment, and their runtime would not know of its farewell.
                unsafe {
                    let cown = NonNull::new_unchecked(*cown);
                    let header = cown.as_ref();
                    if is_of(header.home()) && !header.has(Flags::CLOSED) && header.counts.retain()
                    {
                        found.push(Living(cown));
                    }
                }
            }
        }
        found
    }
}

/// Two arrays, so that a search runs over the small one.
pub(super) struct Shard {
    /// [`RuntimeId::NONE`] in a free entry.
    homes: Vec<RuntimeId>,
    /// In a free entry, the number of the next one, as an address.
    cowns: Vec<*mut CownHeader>,
    free: usize,
    used: usize,
}

/// The end of the list of free entries.
const NOWHERE: usize = usize::MAX;

// SAFETY: the pointers are followed under the lock of the shard only, where their cowns are alive.
unsafe impl Send for Shard {}

impl Shard {
    pub(super) const fn new() -> Self {
        Self { homes: Vec::new(), cowns: Vec::new(), free: NOWHERE, used: 0 }
    }

    fn insert(&mut self, cown: NonNull<CownHeader>, home: RuntimeId) -> u32 {
        self.used += 1;
        let index = self.free;
        if index == NOWHERE {
            self.homes.push(home);
            self.cowns.push(cown.as_ptr());
            return u32::try_from(self.cowns.len() - 1).expect("memory ends before the numbers do");
        }
        self.free = self.cowns[index].addr();
        self.homes[index] = home;
        self.cowns[index] = cown.as_ptr();
        index as u32
    }

    fn remove(&mut self, index: usize) {
        self.used -= 1;
        if self.used == 0 && self.cowns.len() > KEPT {
            *self = Self::new();
            return;
        }
        self.homes[index] = RuntimeId::NONE;
        self.cowns[index] = without_provenance_mut(self.free);
        self.free = index;
    }
}

/// A handle of a cown that is attended to, whatever its type.
pub(crate) struct Living(NonNull<CownHeader>);

impl Living {
    /// Tells two of them apart, as long as both live; that with the greater number is the younger one.
    pub(crate) fn number(&self) -> (u64, usize) {
        // SAFETY: attended to, and kept alive by the handle.
        let number = unsafe { (guard::kind(self.0).number)(self.0) };
        (number, self.0.as_ptr().addr())
    }

    /// Tells the state that its runtime ends, and has it attended to.
    pub(crate) fn end(&self, ending: &super::Ending) {
        // SAFETY: as above.
        unsafe { (guard::kind(self.0).end)(self.0, ending) };
    }

    /// Has the state attended to.
    pub(crate) fn alert(&self) {
        // SAFETY: as above.
        unsafe { (guard::kind(self.0).alert)(self.0) };
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        // SAFETY: the handle's count, which ends here.
        unsafe { (guard::kind(self.0).release)(self.0) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
