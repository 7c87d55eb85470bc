//! Batches: lists of free blocks that go from thread to thread as one.

use std::ptr::NonNull;

use super::slab::FreeBlock;

/// The number of blocks in a full magazine.
pub(super) const BATCH: usize = 64;

/// A list of 1 to [`BATCH`] free blocks of one class.
#[derive(Debug)]
pub(super) struct BlockBatch {
    pub(super) head: NonNull<FreeBlock>,
    pub(super) count: usize,
}

// SAFETY: a batch owns its blocks: they are plain memory to which no other pointer is in use.
unsafe impl Send for BlockBatch {}

impl BlockBatch {
    /// Creates a batch of a single block.
    ///
    /// # Safety
    ///
    /// The caller gives up the memory at `block`, which has the size and alignment of the class.
    pub(super) unsafe fn of_one(block: NonNull<FreeBlock>) -> Self {
        // SAFETY: the caller gives up the block, as this function requires.
        unsafe { Self::prepend(block, None) }
    }

    /// Returns `rest` with `block` in front of it.
    ///
    /// # Safety
    ///
    /// As [`of_one`](Self::of_one).
    pub(super) unsafe fn prepend(block: NonNull<FreeBlock>, rest: Option<Self>) -> Self {
        let (next, count) = rest.map_or((None, 0), |rest| (Some(rest.head), rest.count));
        // SAFETY: the caller has given up the memory, and every class is large enough for a link.
        unsafe { block.write(FreeBlock { next }) };
        Self { head: block, count: count + 1 }
    }

    /// Returns the first block, and the others if there are any.
    pub(super) fn split_first(self) -> (NonNull<FreeBlock>, Option<Self>) {
        // SAFETY: the batch owns its blocks, and each one's link was written when it was added.
        let next = unsafe { self.head.read().next };
        (self.head, next.map(|head| Self { head, count: self.count - 1 }))
    }
}
