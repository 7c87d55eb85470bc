//! Slabs: 64 KiB from the program's allocator, cut into blocks of one class.
//!
//! A slab stands on a multiple of its size, so the address of a block leads to the header. A slab is
//! a little smaller than its alignment: an allocator that keeps a word of its own in front of each
//! piece (glibc does) can then put slabs side by side, instead of losing 64 KiB between any two.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::mem::size_of;
use std::ptr::{self, NonNull};

use super::class::{MAX_ALIGN, SizeClass};

/// The distance of slabs, and their alignment.
const SPACING: usize = 64 * 1024;

/// What a slab asks of the allocator.
pub(super) const SLAB_BYTES: usize = SPACING - 64;

/// Where the first block stands: behind the header, at the beginning of a pair of cache lines.
const FIRST: usize = 128;

const LAYOUT: Layout = match Layout::from_size_align(SLAB_BYTES, SPACING) {
    Ok(layout) => layout,
    Err(_) => panic!("64 KiB is a power of two"),
};

const _: () = assert!(size_of::<Header>() <= FIRST && FIRST.is_multiple_of(MAX_ALIGN));

/// A free block: nothing but the link to the next one of its list.
pub(super) struct Block {
    /// The next free block; of the last one, none.
    pub(super) next: Option<NonNull<Block>>,
}

/// What stands at the beginning of a slab.
struct Header {
    /// Blocks that have been handed out of the slab at least once. Changed by the holder of the
    /// slab's [`Cursor`].
    carved: u32,
    /// Blocks that the current trim has met. Zero between trims; changed by the trimmer.
    met: u32,
}

/// A slab, as an address. Who may touch its header: see [`Header`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slab(NonNull<Header>);

// SAFETY: a `Slab` is an address; every access through it goes through an unsafe function whose
// conditions name the lock that makes the thread the only one.
unsafe impl Send for Slab {}

impl Slab {
    /// The slab in which `block` stands.
    ///
    /// # Safety
    ///
    /// `block` was carved from a slab that has not been released.
    pub(super) unsafe fn of(block: NonNull<Block>) -> Self {
        // The block has been in other hands and may have come back through a reference to what it
        // held, which gives no right to the header: hence the exposed provenance of the slab.
        let header = ptr::with_exposed_provenance_mut(block.addr().get() & !(SPACING - 1));
        // SAFETY: a slab stands on a multiple of SPACING, that is not null, and is not longer than
        // SPACING, so rounding the address of one of its blocks down gives its beginning.
        Self(unsafe { NonNull::new_unchecked(header) })
    }

    /// Counts one more free block; tells whether that was the last one, so that nobody uses any.
    ///
    /// # Safety
    ///
    /// The caller is the only trimmer of this class, holds the slab's cursor if it has one left,
    /// and the slab has not been released.
    pub(super) unsafe fn meet(self) -> bool {
        // SAFETY: per the caller `met` is ours, and `carved` has come to rest: only the holder of
        // the cursor changes it.
        let header = unsafe { &mut *self.0.as_ptr() };
        header.met += 1;
        header.met == header.carved
    }

    /// Whether all blocks have been met, so that the slab can be released.
    ///
    /// # Safety
    ///
    /// As [`meet`](Self::meet).
    pub(super) unsafe fn is_free(self) -> bool {
        // SAFETY: as in `meet`.
        let header = unsafe { &*self.0.as_ptr() };
        header.met == header.carved
    }

    /// Forgets what was met, when the slab stays. It can then not be taken for a free one, unless
    /// nothing was carved from it.
    ///
    /// # Safety
    ///
    /// As [`meet`](Self::meet).
    pub(super) unsafe fn forget(self) {
        // SAFETY: as in `meet`.
        unsafe { (*self.0.as_ptr()).met = 0 };
    }

    /// How many blocks have been carved.
    ///
    /// # Safety
    ///
    /// As [`meet`](Self::meet).
    pub(super) unsafe fn carved(self) -> usize {
        // SAFETY: as in `meet`.
        unsafe { (*self.0.as_ptr()).carved as usize }
    }

    /// Gives the memory back.
    ///
    /// # Safety
    ///
    /// No block of the slab, and no cursor on it, is or will be used.
    pub(super) unsafe fn release(self) {
        // SAFETY: `Cursor::open` allocated it with this layout, and per the caller this is the end.
        unsafe { dealloc(self.0.as_ptr().cast(), LAYOUT) }
    }
}

/// The part of a slab that no block has been carved from yet. Whoever owns it may carve.
#[derive(Debug)]
pub(super) struct Cursor {
    slab: Slab,
    next: usize,
}

impl Cursor {
    /// A fresh slab.
    pub(super) fn open() -> Self {
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc(LAYOUT) };
        let Some(header) = NonNull::new(memory.cast::<Header>()) else {
            handle_alloc_error(LAYOUT)
        };
        // SAFETY: the memory is fresh, aligned to much more than a header, and longer than one.
        unsafe { header.write(Header { carved: 0, met: 0 }) };
        header.as_ptr().expose_provenance();
        Self {
            slab: Slab(header),
            next: FIRST,
        }
    }

    /// The slab that this is the rest of.
    pub(super) fn slab(&self) -> Slab {
        self.slab
    }

    /// Whether there is no room for another block of `class`.
    pub(super) fn is_spent(&self, class: SizeClass) -> bool {
        self.next + class.block_size() > SLAB_BYTES
    }

    /// Cuts off up to `most` blocks. They are linked by the caller, outside its lock, since that
    /// touches new pages.
    ///
    /// All calls for one slab name the same class.
    pub(super) fn carve(&mut self, class: SizeClass, most: usize) -> Span {
        let size = class.block_size();
        let count = ((SLAB_BYTES - self.next) / size).min(most);
        // SAFETY: `next` does not exceed the length of the slab.
        let first = unsafe { self.slab.0.cast::<u8>().add(self.next) };
        self.next += count * size;
        // SAFETY: the slab has not been released, for then its cursor would have been dropped;
        // the owner of the cursor may change `carved`.
        unsafe { (*self.slab.0.as_ptr()).carved += count as u32 };
        Span {
            first: first.cast(),
            count,
            size,
        }
    }
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

    /// Links the blocks in the order of their addresses; the first one, if there is any.
    pub(super) fn link(self) -> Option<NonNull<Block>> {
        let mut next = None;
        for index in (0..self.count).rev() {
            // SAFETY: `carve` cut `count` blocks of `size` bytes off the slab for us alone; each is
            // large enough and aligned for a link, since classes are multiples of 8.
            unsafe {
                let block = self.first.byte_add(index * self.size);
                block.write(Block { next });
                next = Some(block);
            }
        }
        next
    }
}
