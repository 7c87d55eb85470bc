//! Magazines: lists of free blocks of one class that a thread has to itself, two by two in a pair.

use std::mem;
use std::ptr::NonNull;

use super::batch::{BATCH, BlockBatch};
use super::slab::FreeBlock;

/// The room of an empty magazine in a thread that keeps blocks.
pub(super) const FULL_ROOM: isize = BATCH as isize;

/// Two magazines of one class. `previous` is either full or empty.
pub(super) struct MagazinePair {
    pub(super) loaded: Magazine,
    pub(super) previous: Magazine,
}

/// A list of free blocks.
pub(super) struct Magazine {
    head: Option<NonNull<FreeBlock>>,
    /// The number of blocks that still fit. Zero in a thread that has not yet begun to keep blocks,
    /// or no longer does. Negative only between a [`push`](Magazine::push) that finds no room and
    /// [`Magazine::refuse`].
    room: isize,
}

impl MagazinePair {
    pub(super) const fn new(room: isize) -> Self {
        Self { loaded: Magazine::with_room(room), previous: Magazine::with_room(room) }
    }

    /// Takes a block from the other magazine, which becomes the loaded one.
    pub(super) fn pop_previous(&mut self) -> Option<NonNull<FreeBlock>> {
        mem::swap(&mut self.loaded, &mut self.previous);
        self.loaded.pop()
    }

    /// Loads a batch and returns the blocks loaded before: none, unless the program's allocator has
    /// re-entered the pool meanwhile.
    pub(super) fn load(&mut self, batch: BlockBatch) -> Option<BlockBatch> {
        let before = self.loaded.empty();
        self.loaded = Magazine::holding(batch);
        before
    }

    /// Adds a block. If there is no room and no empty magazine, empties one and returns its blocks.
    ///
    /// # Safety
    ///
    /// See [`Magazine::push`].
    pub(super) unsafe fn push_to_empty(&mut self, block: NonNull<FreeBlock>) -> Option<BlockBatch> {
        // SAFETY: the caller gives the block up.
        if unsafe { self.loaded.push(block) } {
            return None;
        }
        self.loaded.refuse();
        mem::swap(&mut self.loaded, &mut self.previous);
        let full = self.loaded.empty();
        // SAFETY: the caller gives the block up; the first call has not kept it.
        let kept = unsafe { self.loaded.push(block) };
        debug_assert!(kept, "an emptied magazine has room");
        full
    }

    /// The number of blocks in both magazines.
    pub(super) fn kept(&self) -> usize {
        self.loaded.count() + self.previous.count()
    }
}

impl Magazine {
    const fn with_room(room: isize) -> Self {
        Self { head: None, room }
    }

    /// Turns a batch into a magazine.
    fn holding(batch: BlockBatch) -> Self {
        Self { head: Some(batch.head), room: FULL_ROOM - batch.count as isize }
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<NonNull<FreeBlock>> {
        let block = self.head?;
        // SAFETY: a block in the list is free and owned by this magazine; its link was written when
        // it was added.
        self.head = unsafe { block.as_ref().next };
        self.room += 1;
        Some(block)
    }

    /// Adds a block. Returns `false` if there is no room; then [`refuse`](Self::refuse) must
    /// follow. Counting first and testing the result is one instruction, where a check beforehand
    /// would take three.
    ///
    /// # Safety
    ///
    /// The caller gives up the memory at `block`, which has the size and alignment of the class.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, block: NonNull<FreeBlock>) -> bool {
        self.room -= 1;
        if self.room < 0 {
            return false;
        }
        // SAFETY: the caller gives up the memory, and every class is large enough for a link.
        unsafe { block.write(FreeBlock { next: self.head }) };
        self.head = Some(block);
        true
    }

    /// Corrects the count after a block that was refused.
    pub(super) fn refuse(&mut self) {
        self.room += 1;
        debug_assert_eq!(self.room, 0, "a magazine that refuses a block is full");
    }

    fn count(&self) -> usize {
        // A magazine without blocks may also lack room, in a thread that keeps none.
        if self.head.is_none() { 0 } else { (FULL_ROOM - self.room) as usize }
    }

    /// Turns a magazine into a batch, unless it is empty.
    pub(super) fn into_batch(self) -> Option<BlockBatch> {
        let count = self.count();
        self.head.map(|head| BlockBatch { head, count })
    }

    /// Takes all blocks out of a magazine of an active thread.
    pub(super) fn empty(&mut self) -> Option<BlockBatch> {
        mem::replace(self, Self::with_room(FULL_ROOM)).into_batch()
    }
}
