//! Slabs: 64 KiB from the program's allocator, cut into blocks of one class.
//!
//! A slab stands on a multiple of 64 KiB, so that the address of a block tells its slab. It has no
//! header: what a trim counts, it counts in a table of its own, because headers at equal offsets in
//! pieces of 64 KiB would fall into the same few cache sets.
//!
//! A slab is a little smaller than its alignment: an allocator that keeps a word of its own in front
//! of each piece (glibc does) can then put slabs side by side, instead of losing 64 KiB between any
//! two.

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

/// A free block: nothing but the link to the next one of its list.
pub(super) struct Block {
    /// The next free block; of the last one, none.
    pub(super) next: Option<NonNull<Block>>,
}

/// A slab, as an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slab {
    address: usize,
}

impl Slab {
    /// The slab in which `block` stands.
    pub(super) fn of(block: NonNull<Block>) -> Self {
        Self { address: block.addr().get() & !(SPACING - 1) }
    }

    /// How many blocks of `class` a slab has.
    pub(super) const fn capacity(class: SizeClass) -> usize {
        SLAB_BYTES / class.block_size()
    }

    /// Gives the memory back.
    ///
    /// # Safety
    ///
    /// The slab comes from [`Cursor::open`] and has not been released; no block of it, and no
    /// cursor on it, is or will be used.
    pub(super) unsafe fn release(self) {
        // The right to the whole slab, which a block that has been in other hands may have lost.
        let memory = ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: `Cursor::open` allocated it with this layout, and per the caller this is the end.
        unsafe { dealloc(memory, LAYOUT) }
    }
}

/// The part of a slab that no block has been carved from yet. Whoever owns it may carve.
#[derive(Debug)]
pub(super) struct Cursor {
    start: NonNull<u8>,
    carved: usize,
}

// SAFETY: a cursor owns the memory behind its carved part; nobody else knows it.
unsafe impl Send for Cursor {}

impl Cursor {
    /// A fresh slab.
    pub(super) fn open() -> Self {
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc(LAYOUT) };
        let Some(start) = NonNull::new(memory) else { handle_alloc_error(LAYOUT) };
        populate(start);
        // For `Slab::release`.
        memory.expose_provenance();
        Self { start, carved: 0 }
    }

    /// The slab that this is the rest of.
    pub(super) fn slab(&self) -> Slab {
        Slab { address: self.start.addr().get() }
    }

    /// How many blocks have been carved.
    pub(super) fn carved(&self) -> usize {
        self.carved
    }

    /// Cuts off up to `most` blocks; an empty span if all are gone. They are linked by the caller,
    /// outside its lock, since that touches new pages.
    ///
    /// All calls for one slab name the same class.
    pub(super) fn carve(&mut self, class: SizeClass, most: usize) -> Span {
        let size = class.block_size();
        let count = (Slab::capacity(class) - self.carved).min(most);
        // SAFETY: `carved` is at most the capacity, so this stays within the slab.
        let first = unsafe { self.start.add(self.carved * size) };
        self.carved += count;
        Span { first: first.cast(), count, size }
    }
}

/// Has the system provide the pages of a fresh slab all at once: a slab that is opened is used up
/// soon, and one call costs less than a page fault each.
fn populate(start: NonNull<u8>) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // The call takes whole pages; the last one may belong to the next slab as well.
        // SAFETY: the range is ours but for that page, and populating changes no contents. Where
        // the system does not know the request, it refuses, and the pages come one by one.
        unsafe { libc::madvise(start.as_ptr().cast(), SLAB_BYTES, libc::MADV_POPULATE_WRITE) };
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = start;
}

/// A run of fresh blocks that lie side by side; the owner is the only one who knows them.
pub(super) struct Span {
    first: NonNull<Block>,
    count: usize,
    size: usize,
}

impl Span {
    /// How many blocks there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Links the blocks; the first one, if there is any.
    ///
    /// Blocks that follow each other in the list lie on different cache lines: first every n-th
    /// block, then those beside them, and so on. What is allocated in a row is often used by
    /// different threads (pairs of cowns, say), which would otherwise contend for their neighbours'
    /// lines. A batch is a few KiB long, so its order costs a streaming user nothing.
    pub(super) fn link(self) -> Option<NonNull<Block>> {
        let stride = CACHE_LINE.div_ceil(self.size).min(self.count).max(1);
        // Of the runs, of which there are as many as the stride is long, the first few have a block more than the others.
        let (each, longer) = (self.count / stride, self.count % stride);
        let step = stride * self.size;
        let mut next = None;
        for first in (0..stride).rev() {
            let count = each + usize::from(first < longer);
            // From the last of these to the first: a step is a subtraction. It begins behind the last of these, which may
            // be behind the slab: nothing is read or written there.
            let mut block = self.first.as_ptr().wrapping_byte_add(first * self.size + count * step);
            for _ in 0..count {
                block = block.wrapping_byte_sub(step);
                // SAFETY: `carve` cut `count` blocks of `size` bytes off the slab for us alone, of which this is one;
                // each is large enough and aligned for a link, since classes are multiples of 8.
                unsafe { block.write(Block { next }) };
                next = NonNull::new(block);
            }
        }
        next
    }
}

/// The unit that processors contend for: a pair of lines, since many fetch them together.
const CACHE_LINE: usize = 128;
