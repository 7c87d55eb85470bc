//! The pool's twin for checkers: every block from the program's allocator, and a counter.

use std::alloc::Layout;
use std::ptr::NonNull;

use super::PoolStats;
use super::class::SizeClass;
use crate::shim::alloc as raw;
use crate::shim::process::{AtomicUsize, Ordering};

static BLOCKS: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// What the counters and the allocator are told: the size that the pool proper would use.
fn rounded(layout: Layout) -> usize {
    SizeClass::of(layout).map_or(layout.size(), SizeClass::block_size)
}

/// The allocator must not be asked for nothing.
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
/// As [`super::dealloc`].
pub(super) unsafe fn try_dealloc(block: NonNull<u8>, layout: Layout) -> bool {
    // SAFETY: by the caller's word.
    unsafe { dealloc(block, layout) };
    true
}

/// Takes a block back that [`try_dealloc`] has not taken: there is none.
///
/// # Safety
///
/// As [`super::dealloc`].
pub(super) unsafe fn dealloc_refused(block: NonNull<u8>, layout: Layout) {
    // SAFETY: by the caller's word.
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
/// As [`super::dealloc`].
pub(super) unsafe fn dealloc(block: NonNull<u8>, layout: Layout) {
    BLOCKS.fetch_sub(1, Ordering::Relaxed);
    BYTES.fetch_sub(rounded(layout), Ordering::Relaxed);
    if cfg!(loom) {
        // loom does not watch plain memory: so let a use after this find no object of loom's.
        // SAFETY: the block is the caller's to give up.
        unsafe { block.write_bytes(0xDB, layout.size()) };
    }
    // SAFETY: `alloc` asked the same allocator for it with the same layout, and the caller gives it
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
                // SAFETY: the block was sent here, with its layout, by the only one who had it.
                unsafe { dealloc(NonNull::new(block).unwrap(), Layout::new::<u64>()) }
            });
            other.join().unwrap();
        });
    }
}
