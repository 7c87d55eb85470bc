//! The pool's twin for checkers: takes every block from the program's allocator, and counts them.

use std::alloc::Layout;
use std::ptr::NonNull;

use super::class::SizeClass;
use super::stats::PoolStats;
use crate::shim::alloc as raw;
use crate::shim::process::{AtomicUsize, Ordering};

static BLOCKS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// The size that the real pool would use, for the counters.
fn rounded(layout: Layout) -> usize {
    SizeClass::of(layout).map_or(layout.size(), SizeClass::block_size)
}

/// The layout with a nonzero size: the allocator must not be asked for zero bytes.
fn nonzero(layout: Layout) -> Layout {
    if layout.size() == 0 {
        Layout::new::<usize>().align_to(layout.align()).unwrap_or(layout)
    } else {
        layout
    }
}

pub(super) fn try_alloc(layout: Layout) -> Option<NonNull<u8>> {
    Some(alloc(layout))
}

/// # Safety
///
/// See [`super::dealloc`].
pub(super) unsafe fn try_dealloc(block: NonNull<u8>, layout: Layout) -> bool {
    // SAFETY: the caller gives back a block from `alloc` with this layout, once.
    unsafe { dealloc(block, layout) };
    true
}

/// Takes back a block that [`try_dealloc`] has refused, which never happens here.
///
/// # Safety
///
/// See [`super::dealloc`].
pub(super) unsafe fn dealloc_refused(block: NonNull<u8>, layout: Layout) {
    // SAFETY: the caller gives back a block from `alloc` with this layout, once.
    unsafe { dealloc(block, layout) };
}

pub(super) fn alloc(layout: Layout) -> NonNull<u8> {
    // Relaxed: statistics, read at quiescence.
    BLOCKS.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(rounded(layout), Ordering::Relaxed);
    let layout = nonzero(layout);
    // SAFETY: the layout is not empty.
    let block = unsafe { raw::alloc(layout) };
    NonNull::new(block).unwrap_or_else(|| raw::handle_alloc_error(layout))
}

/// # Safety
///
/// See [`super::dealloc`].
pub(super) unsafe fn dealloc(block: NonNull<u8>, layout: Layout) {
    BLOCKS.fetch_sub(1, Ordering::Relaxed);
    BYTES.fetch_sub(rounded(layout), Ordering::Relaxed);
    if cfg!(loom) {
        // loom does not watch plain memory. Overwriting it makes a use after free find no loom
        // object.
        // SAFETY: the caller gives up the block, which has `layout.size()` bytes.
        unsafe { block.write_bytes(0xDB, layout.size()) };
    }
    // SAFETY: `alloc` got it from the same allocator with the same layout, and the caller gives it
    // back once.
    unsafe { raw::dealloc(block.as_ptr(), nonzero(layout)) }
}

pub(super) fn flush_thread() {}

pub(super) fn trim() -> usize {
    0
}

pub(super) fn trim_surplus() -> usize {
    0
}

pub(super) fn stats() -> PoolStats {
    let blocks = BLOCKS.load(Ordering::Relaxed);
    PoolStats {
        outstanding_blocks: blocks,
        outstanding_bytes: BYTES.load(Ordering::Relaxed),
        passed_on_blocks: blocks,
        ..PoolStats::default()
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;

    #[test]
    fn a_block_may_come_back_on_another_thread() {
        loom::model(|| {
            let block = alloc(Layout::new::<u64>()).as_ptr().expose_provenance();
            let other = loom::thread::spawn(move || {
                let block = std::ptr::with_exposed_provenance_mut(block);
                // SAFETY: the only owner sent the block here, with its layout.
                unsafe { dealloc(NonNull::new(block).unwrap(), Layout::new::<u64>()) }
            });
            other.join().unwrap();
        });
    }
}
