//! Slabs: 64 KiB from the program's allocator, cut into blocks of one class.
//!
//! A slab is aligned to 64 KiB, so a block's address identifies its slab. It has no header: a trim
//! counts in a table of its own, because headers at equal offsets in pieces of 64 KiB would fall
//! into the same few cache sets.
//!
//! A slab is a little smaller than its alignment. An allocator that keeps a word of its own in
//! front of each piece (glibc does) can then place slabs side by side, instead of losing 64 KiB
//! between any two.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};

use super::class::{MAX_ALIGN, SizeClass};

/// The distance of slabs, and their alignment.
const SPACING: usize = 64 * 1024;

/// The length of a slab.
pub(super) const SLAB_BYTES: usize = SPACING - 64;

const LAYOUT: Layout = match Layout::from_size_align(SLAB_BYTES, SPACING) {
    Ok(layout) => layout,
    Err(_) => panic!("64 KiB is a power of two"),
};

const _: () = assert!(SPACING.is_multiple_of(MAX_ALIGN));

/// A free block: only the link to the next one in its list.
pub(super) struct FreeBlock {
    /// The next free block; `None` in the last one.
    pub(super) next: Option<NonNull<FreeBlock>>,
}

/// A slab, identified by its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slab {
    address: usize,
}

impl Slab {
    /// Returns the slab that contains `block`.
    pub(super) fn of(block: NonNull<FreeBlock>) -> Self {
        Self { address: block.addr().get() & !(SPACING - 1) }
    }

    /// The number of blocks of `class` in a slab.
    pub(super) const fn capacity(class: SizeClass) -> usize {
        SLAB_BYTES / class.block_size()
    }

    /// Gives the memory back to the program's allocator.
    ///
    /// # Safety
    ///
    /// The slab comes from [`SlabCursor::open`] and has not been released; no block of it, and no
    /// cursor on it, is or will be used.
    pub(super) unsafe fn release(self) {
        // Recovers the provenance of the whole slab, which a block may lack after it has been in
        // other hands.
        let memory = ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: `SlabCursor::open` allocated it with this layout, and the caller no longer uses
        // any of it.
        unsafe { dealloc(memory, LAYOUT) }
    }
}

/// The part of a slab from which no block has been carved yet. Its owner may carve.
#[derive(Debug)]
pub(super) struct SlabCursor {
    start: NonNull<u8>,
    carved: usize,
}

// SAFETY: a cursor owns the memory behind the carved part; no other pointer to it is in use.
unsafe impl Send for SlabCursor {}

impl SlabCursor {
    /// Opens a fresh slab.
    pub(super) fn open() -> Self {
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc(LAYOUT) };
        let Some(start) = NonNull::new(memory) else { handle_alloc_error(LAYOUT) };
        populate(start);
        // For `Slab::release`.
        memory.expose_provenance();
        Self { start, carved: 0 }
    }

    /// Returns the slab that this is the rest of.
    pub(super) fn slab(&self) -> Slab {
        Slab { address: self.start.addr().get() }
    }

    /// Returns the number of blocks carved so far.
    pub(super) fn carved(&self) -> usize {
        self.carved
    }

    /// Cuts off up to `most` blocks; the span is empty if none are left. The caller links them,
    /// outside its lock, since that touches new pages.
    ///
    /// All calls for one slab must name the same class.
    pub(super) fn carve(&mut self, class: SizeClass, most: usize) -> BlockSpan {
        let size = class.block_size();
        let count = (Slab::capacity(class) - self.carved).min(most);
        // SAFETY: `carved` is at most the capacity, so this stays within the slab.
        let first = unsafe { self.start.add(self.carved * size) };
        self.carved += count;
        BlockSpan { first: first.cast(), count, size }
    }
}

/// Asks the system for all pages of a fresh slab at once: an opened slab is soon used up, and one
/// call costs less than a page fault per page.
fn populate(start: NonNull<u8>) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // The call takes whole pages; the last one may belong to the next slab as well.
        // SAFETY: the range is this slab's except for that page, and populating changes no
        // contents. A system that does not know the request refuses it, and the pages are faulted
        // in one by one.
        unsafe { libc::madvise(start.as_ptr().cast(), SLAB_BYTES, libc::MADV_POPULATE_WRITE) };
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = start;
}

/// A run of fresh, adjacent blocks, owned by the span.
pub(super) struct BlockSpan {
    first: NonNull<FreeBlock>,
    count: usize,
    size: usize,
}

impl BlockSpan {
    /// The number of blocks.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Links the blocks and returns the first one, if there is any.
    ///
    /// Blocks that follow each other in the list lie on different cache lines: first every n-th
    /// block, then those beside them, and so on. Blocks allocated in a row are often used by
    /// different threads (pairs of cowns, for example), which would otherwise contend for each
    /// other's lines. A batch is a few KiB long, so its order costs a streaming user nothing.
    pub(super) fn link(self) -> Option<NonNull<FreeBlock>> {
        let stride = CACHE_LINE.div_ceil(self.size).min(self.count).max(1);
        // There are as many runs as the stride is long; the first few have one block more than the
        // others.
        let (each, longer) = (self.count / stride, self.count % stride);
        let step = stride * self.size;
        let mut next = None;
        for first in (0..stride).rev() {
            let count = each + usize::from(first < longer);
            // From the last block of the run to the first, so that a step is a subtraction. It
            // starts behind the last one, possibly behind the slab: nothing is read or written
            // there.
            let mut block = self.first.as_ptr().wrapping_byte_add(first * self.size + count * step);
            for _ in 0..count {
                block = block.wrapping_byte_sub(step);
                // SAFETY: `carve` cut `count` blocks of `size` bytes off the slab exclusively for
                // this span, and this is one of them; each is large enough and aligned for a link,
                // since classes are multiples of 8.
                unsafe { block.write(FreeBlock { next }) };
                next = NonNull::new(block);
            }
        }
        next
    }
}

/// The unit that processors contend for: a pair of lines, since many fetch lines in pairs.
const CACHE_LINE: usize = 128;
