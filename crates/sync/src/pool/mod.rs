//! A pool of small blocks that makes the runtime's speed independent of the program's allocator.
//!
//! A library does not choose its user's allocator, yet a runtime that allocates a block for each
//! message lives or dies by it, above all when one thread allocates and another frees. This pool is
//! built for that flow. Only the runtime's own nodes and blocks go through it.
//!
//! # How it works
//!
//! * **Size classes** (`class.rs`): every 8 bytes up to 256. Larger layouts, and those aligned to
//!   more than 16, are passed on to the program's allocator.
//! * **Magazines** (`cache.rs`): each thread has two lists of up to 64 free blocks per class. The
//!   fast path takes from, or adds to, one of them: plain instructions on thread-local memory.
//! * **Depots** (`depot.rs`): when both magazines are full, one of them goes to the depot of its
//!   class; when both are empty, the thread takes a full one from there. A thread that only
//!   allocates and one that only frees thus exchange batches of 64, at one lock per 64 operations.
//!   (With two magazines instead of one, a thread whose count wavers around the edge does not go to
//!   the depot each time: Bonwick and Adams, *Magazines and Vmem*, 2001.)
//! * **Slabs** (`slab.rs`): fresh blocks are carved from pieces of 64 KiB, aligned to 64 KiB, so a
//!   block's address identifies its slab.
//!
//! # Giving memory back
//!
//! A slab goes back when all its blocks are in the depot. Finding out takes a walk over the depot,
//! so it is done rarely: [`trim`] does it at once, [`trim_surplus`] does it for what has not been
//! needed since the last call, and a thread that fills a depot beyond 32 MiB does it whenever the
//! depot has doubled.
//!
//! # Threads that end
//!
//! A thread-local destructor flushes a thread's magazines to the depot. The magazines themselves
//! have no destructor, so that reaching them is one load. Other destructors of the same thread may
//! therefore use the pool after the flush, and then go to the depot block by block. The destructors
//! run before [`JoinHandle::join`](std::thread::JoinHandle::join) returns, but possibly after
//! [`std::thread::scope`] does; call [`flush_thread`] where that matters.
//!
//! # Checkers
//!
//! Under loom, under Miri and with `--cfg coact_no_pool` (for AddressSanitizer) each block comes
//! from the program's allocator (under loom from its leak tracker) and [`stats`] counts them, so
//! that leak tests run either way.
//!
//! # Figures
//!
//! `cargo run --release -p coact-sync --example pool_bench` prints them for the machine at hand.
//! Two cores of a virtual machine, best of nine rounds, blocks of 64 bytes, while an uncontended
//! atomic addition took 10.9 ns (a quiet day's is 3 ns, so read them as ratios):
//!
//! | | pool | glibc 2.36 |
//! | --- | --- | --- |
//! | allocate and free, one thread | 2.1 ns | 9.4 ns |
//! | 200,000 allocations, then as many frees | 8.4 ns | 35.6 ns |
//! | one thread allocates, another frees (1.4 ns of it the ring) | 5.9 ns | 34.3 ns |
//!
//! A trim of 200,000 such blocks, all of them free, took 3 to 5 ms, about half of it in the kernel.

use std::alloc::Layout;
use std::ptr::NonNull;

#[cfg(not(any(loom, miri, coact_no_pool)))]
mod batch;
#[cfg(not(any(loom, miri, coact_no_pool)))]
mod cache;
#[cfg(not(any(loom, miri, coact_no_pool)))]
mod magazine;
#[cfg(not(any(loom, miri, coact_no_pool)))]
mod slab_census;
// The checkers' twin only uses it to round sizes.
#[cfg_attr(any(loom, miri, coact_no_pool), allow(dead_code))]
mod class;
#[cfg(not(any(loom, miri, coact_no_pool)))]
mod depot;
#[cfg(not(any(loom, miri, coact_no_pool)))]
mod slab;
mod stats;
#[cfg(any(loom, miri, coact_no_pool))]
mod system;

#[cfg(not(any(loom, miri, coact_no_pool)))]
use cache as backend;
#[cfg(any(loom, miri, coact_no_pool))]
use system as backend;

pub use stats::PoolStats;

/// Allocates an uninitialised block for `layout`. Aborts like `Box` when memory runs out.
///
/// ```
/// use coact_sync::pool;
/// use std::alloc::Layout;
///
/// let layout = Layout::new::<[u64; 4]>();
/// let block = pool::alloc(layout).cast::<[u64; 4]>();
/// // SAFETY: the block was made for this very layout, is written before it is read, and goes back
/// // once, with the same layout.
/// unsafe {
///     block.write([1, 2, 3, 4]);
///     assert_eq!(block.read()[3], 4);
///     pool::dealloc(block.cast(), layout);
/// }
/// ```
#[inline]
pub fn alloc(layout: Layout) -> NonNull<u8> {
    backend::alloc(layout)
}

/// Allocates a block for `layout` if this thread has one at hand. The fast half of [`alloc`]: never
/// calls out, so the caller need not save registers for a call.
///
/// ```
/// use coact_sync::pool;
/// use std::alloc::Layout;
///
/// let layout = Layout::new::<[u64; 4]>();
/// let block = pool::try_alloc(layout).unwrap_or_else(|| pool::alloc(layout));
/// // SAFETY: it goes back once, with the same layout, and was not used.
/// unsafe { pool::dealloc(block, layout) };
/// ```
#[inline(always)]
pub fn try_alloc(layout: Layout) -> Option<NonNull<u8>> {
    backend::try_alloc(layout)
}

/// Takes a block back, on any thread.
///
/// # Safety
///
/// `block` came from [`alloc`] or [`try_alloc`] with an equal `layout`, has not been given back
/// since, and is not used any more.
#[inline]
pub unsafe fn dealloc(block: NonNull<u8>, layout: Layout) {
    // SAFETY: the backend requires exactly what this function requires of its caller.
    unsafe { backend::dealloc(block, layout) }
}

/// Takes a block back like [`dealloc`], and returns `result`. The rare path, to the depot, is a
/// tail call, so the common one saves no registers.
///
/// ```
/// use coact_sync::pool;
/// use std::alloc::Layout;
///
/// let layout = Layout::new::<[u64; 4]>();
/// let block = pool::alloc(layout);
/// // SAFETY: it goes back once, with the same layout, and was not used.
/// assert_eq!(unsafe { pool::dealloc_and_return(block, layout, 7) }, 7);
/// ```
///
/// # Safety
///
/// See [`dealloc`].
#[inline(always)]
pub unsafe fn dealloc_and_return<R>(block: NonNull<u8>, layout: Layout, result: R) -> R {
    // SAFETY: the caller gives back a block from `alloc` or `try_alloc` with this layout, once.
    if unsafe { backend::try_dealloc(block, layout) } {
        return result;
    }
    // SAFETY: the caller gives the block up, and `try_dealloc` has not taken it.
    unsafe { dealloc_elsewhere(block, layout, result) }
}

/// Takes back a block that [`try_dealloc`](backend::try_dealloc) has refused.
///
/// # Safety
///
/// See [`dealloc`].
#[cold]
#[inline(never)]
unsafe fn dealloc_elsewhere<R>(block: NonNull<u8>, layout: Layout, result: R) -> R {
    // SAFETY: the caller gives back a block from `alloc` or `try_alloc` with this layout, once.
    unsafe { backend::dealloc_refused(block, layout) };
    result
}

/// Hands this thread's free blocks to the depots, where other threads can take them.
///
/// Call it before a long sleep, and before [`stats`] or [`trim`] in a test.
pub fn flush_thread() {
    backend::flush_thread();
}

/// Gives back every slab whose blocks are all in the depots; returns the number of bytes.
///
/// Visits every block in the depots, at a few nanoseconds each. Blocks in the magazines of other
/// threads keep their slabs alive; those of the calling thread are flushed first.
pub fn trim() -> usize {
    backend::trim()
}

/// Gives back what has stayed in the depots since the last call; returns the number of bytes.
///
/// For a runtime that goes idle. Where fewer than 256 KiB of a class have stayed untouched it costs
/// one look, and a working set that swings up and down between two calls is left alone.
pub fn trim_surplus() -> usize {
    backend::trim_surplus()
}

/// What the pool holds; see [`PoolStats`] for when the figures are exact.
pub fn stats() -> PoolStats {
    backend::stats()
}

#[cfg(all(test, not(loom)))]
mod tests;
