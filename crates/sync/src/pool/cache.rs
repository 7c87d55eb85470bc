//! Each thread's part of the pool: its [magazines](super::magazine), and the fast path.
//!
//! The table is thread-local, starts as zeroes and has no destructor, so an executable reaches it
//! with one instruction relative to the thread pointer. What must happen once per thread
//! (registering the flush at its end) is done on the slow path, which a zeroed table always takes:
//! such a magazine has no block to take and no room to add one.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::mem;
use std::ptr::NonNull;

use super::batch::BlockBatch;
use super::class::{CLASSES, SizeClass};
use super::depot::Depot;
use super::magazine::{FULL_ROOM, Magazine, MagazinePair};
use super::slab::FreeBlock;
use super::stats::PoolStats;
use crate::shim::alloc as raw;
use crate::shim::process::{AtomicIsize, Ordering};

/// Blocks passed on to the program's allocator, counted by threads that have ended or flushed.
static PASSED_ON: UnpooledCount<AtomicIsize> =
    UnpooledCount { blocks: AtomicIsize::new(0), bytes: AtomicIsize::new(0) };

thread_local! {
    static CACHE: UnsafeCell<ThreadCache> = const { UnsafeCell::new(ThreadCache::new()) };
    static FLUSH_AT_EXIT: FlushAtExit = const { FlushAtExit };
}

/// One thread's part of the pool.
struct ThreadCache {
    pairs: [MagazinePair; CLASSES],
    life: ThreadPhase,
    passed_on: UnpooledCount<isize>,
}

/// Blocks passed on and not returned: differences, which may be negative, since another thread may
/// free.
struct UnpooledCount<T> {
    blocks: T,
    bytes: T,
}

/// A thread's state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ThreadPhase {
    /// Has not used the pool yet: no magazine has room.
    Fresh,
    /// The flush at the end is registered, so blocks may be kept.
    Active,
    /// Flushed for good: no magazine has room, and each block goes to the depot.
    Ended,
}

struct FlushAtExit;

impl Drop for FlushAtExit {
    fn drop(&mut self) {
        end();
    }
}

#[inline]
pub(super) fn alloc(layout: Layout) -> NonNull<u8> {
    let Some(class) = SizeClass::of(layout) else {
        return pass_on(layout);
    };
    match with_cache(|cache| cache.pair(class).loaded.pop()) {
        Some(block) => block.cast(),
        None => refill(class).cast(),
    }
}

#[inline(always)]
pub(super) fn try_alloc(layout: Layout) -> Option<NonNull<u8>> {
    let class = SizeClass::of(layout)?;
    with_cache(|cache| cache.pair(class).loaded.pop()).map(NonNull::cast)
}

/// # Safety
///
/// See [`super::dealloc`].
#[inline]
pub(super) unsafe fn dealloc(block: NonNull<u8>, layout: Layout) {
    let Some(class) = SizeClass::of(layout) else {
        // SAFETY: a layout without a class makes `alloc` use `pass_on`, and the caller gives back a
        // block from there, with an equal layout, once.
        return unsafe { take_back(block, layout) };
    };
    let block = block.cast();
    // SAFETY: the caller gives up a block of this class: at least 8 bytes, aligned to 8.
    let kept = with_cache(|cache| unsafe { cache.pair(class).loaded.push(block) });
    if !kept {
        // SAFETY: the caller gives the block up, and `push` has not kept it.
        unsafe { make_room(class, block) };
    }
}

/// Takes the block back if the magazine has room, and returns whether it has. If not,
/// [`dealloc_refused`] must follow.
///
/// # Safety
///
/// See [`super::dealloc`].
#[inline(always)]
pub(super) unsafe fn try_dealloc(block: NonNull<u8>, layout: Layout) -> bool {
    let Some(class) = SizeClass::of(layout) else { return false };
    // SAFETY: the caller gives up a block of this class: at least 8 bytes, aligned to 8.
    with_cache(|cache| unsafe { cache.pair(class).loaded.push(block.cast()) })
}

/// Takes back a block that [`try_dealloc`] has refused.
///
/// # Safety
///
/// See [`super::dealloc`].
pub(super) unsafe fn dealloc_refused(block: NonNull<u8>, layout: Layout) {
    match SizeClass::of(layout) {
        // SAFETY: the caller gives up a block of this class.
        Some(class) => unsafe { make_room(class, block.cast()) },
        // SAFETY: a layout without a class makes `alloc` use `pass_on`, and the caller gives the
        // block back once.
        None => unsafe { take_back(block, layout) },
    }
}

pub(super) fn flush_thread() {
    if is_active() {
        flush(FULL_ROOM);
    }
}

pub(super) fn trim() -> usize {
    flush_thread();
    SizeClass::all().map(|class| Depot::of(class).trim(class)).sum()
}

pub(super) fn trim_surplus() -> usize {
    SizeClass::all().map(|class| Depot::of(class).trim_surplus(class)).sum()
}

pub(super) fn stats() -> PoolStats {
    let mut stats = PoolStats::default();
    for class in SizeClass::all() {
        let kept = with_cache(|cache| cache.pair(class).kept());
        let depot = Depot::of(class).count();
        let outstanding = depot.carved - depot.stocked - kept;
        stats.reserved_bytes += depot.slab_bytes;
        stats.depot_blocks += depot.stocked;
        stats.outstanding_blocks += outstanding;
        stats.outstanding_bytes += outstanding * class.block_size();
    }
    let (blocks, bytes) = with_cache(|cache| cache.passed_on.publish());
    stats.passed_on_blocks = blocks;
    stats.outstanding_blocks += blocks;
    stats.outstanding_bytes += bytes;
    stats
}

/// Runs `f` on this thread's cache.
///
/// `f` must not re-enter this function, or there would be two exclusive borrows. All callers are in
/// this file, and each `f` only moves blocks within the cache: it calls neither a depot nor an
/// allocator, which might itself use this pool.
#[inline(always)]
fn with_cache<R>(f: impl FnOnce(&mut ThreadCache) -> R) -> R {
    // SAFETY: only this thread reaches the cache, `f` does not re-enter (see above), and the table
    // has no destructor, so it is valid as long as the thread runs code.
    CACHE.with(|cache| f(unsafe { &mut *cache.get() }))
}

/// Loads another magazine in place of the empty one, and takes a block from it.
#[cold]
#[inline(never)]
fn refill(class: SizeClass) -> NonNull<FreeBlock> {
    let depot = Depot::of(class);
    if !is_active() {
        return depot.take_one(class);
    }
    if let Some(block) = with_cache(|cache| cache.pair(class).pop_previous()) {
        return block;
    }
    let (first, rest) = depot.take(class).split_first();
    if let Some(rest) = rest
        && let Some(batch) = with_cache(|cache| cache.pair(class).load(rest))
    {
        depot.put(class, batch);
    }
    first
}

/// Replaces the loaded magazine, which has just refused `block`, with an empty one, and puts
/// `block` into that.
///
/// # Safety
///
/// See [`Magazine::push`].
#[cold]
#[inline(never)]
unsafe fn make_room(class: SizeClass, block: NonNull<FreeBlock>) {
    let depot = Depot::of(class);
    with_cache(|cache| cache.pair(class).loaded.refuse());
    if !is_active() {
        // SAFETY: the caller gives the block up.
        return depot.put(class, unsafe { BlockBatch::of_one(block) });
    }
    // SAFETY: the caller gives the block up. One of the two calls keeps it; the first one only if
    // the thread has just become active.
    let full = with_cache(|cache| unsafe { cache.pair(class).push_to_empty(block) });
    if let Some(batch) = full {
        depot.put(class, batch);
    }
}

/// Returns whether this thread may keep blocks. The first call registers the flush at its end.
fn is_active() -> bool {
    if with_cache(|cache| cache.life) == ThreadPhase::Fresh {
        begin();
    }
    with_cache(|cache| cache.life) == ThreadPhase::Active
}

#[cold]
fn begin() {
    // Registers the destructor, unless the thread is too far gone to run one.
    let registered = FLUSH_AT_EXIT.try_with(|_| ()).is_ok();
    with_cache(|cache| match (cache.life, registered) {
        (ThreadPhase::Fresh, true) => cache.begin(),
        (ThreadPhase::Fresh, false) => cache.life = ThreadPhase::Ended,
        // The registration has allocated and re-entered the pool through the program's allocator.
        _ => {}
    });
}

/// The last flush: from here on this thread keeps no block.
fn end() {
    with_cache(|cache| cache.life = ThreadPhase::Ended);
    flush(0);
}

/// Moves every block to the depots, and leaves magazines with this much room.
fn flush(room: isize) {
    for class in SizeClass::all() {
        let pair = with_cache(|cache| mem::replace(cache.pair(class), MagazinePair::new(room)));
        for batch in [pair.loaded, pair.previous].into_iter().filter_map(Magazine::into_batch) {
            Depot::of(class).put(class, batch);
        }
    }
    with_cache(|cache| cache.passed_on.publish());
}

/// Allocates a block for a layout that the pool does not serve.
#[inline(never)]
fn pass_on(layout: Layout) -> NonNull<u8> {
    count_passed_on(1, layout.size() as isize);
    // SAFETY: `nonzero` makes the size nonzero; a layout of size zero gets here only if its
    // alignment exceeds what the pool serves.
    let block = unsafe { raw::alloc(nonzero(layout)) };
    NonNull::new(block).unwrap_or_else(|| raw::handle_alloc_error(layout))
}

/// # Safety
///
/// `block` came from [`pass_on`] with an equal layout and is not used any more.
#[inline(never)]
unsafe fn take_back(block: NonNull<u8>, layout: Layout) {
    count_passed_on(-1, -(layout.size() as isize));
    // SAFETY: `pass_on` allocated it with the same allocator and layout, as this function requires.
    unsafe { raw::dealloc(block.as_ptr(), nonzero(layout)) }
}

fn count_passed_on(blocks: isize, bytes: isize) {
    let active = is_active();
    with_cache(|cache| {
        cache.passed_on.blocks += blocks;
        cache.passed_on.bytes += bytes;
        if !active {
            cache.passed_on.publish();
        }
    });
}

/// The layout with a size of at least 1: the allocator must not be asked for zero bytes.
fn nonzero(layout: Layout) -> Layout {
    Layout::from_size_align(layout.size().max(1), layout.align()).unwrap_or(layout)
}

impl ThreadCache {
    const fn new() -> Self {
        Self {
            pairs: [const { MagazinePair::new(0) }; CLASSES],
            life: ThreadPhase::Fresh,
            passed_on: UnpooledCount { blocks: 0, bytes: 0 },
        }
    }

    #[inline(always)]
    fn pair(&mut self, class: SizeClass) -> &mut MagazinePair {
        &mut self.pairs[class.index()]
    }

    /// Gives the magazines room.
    fn begin(&mut self) {
        self.life = ThreadPhase::Active;
        for pair in &mut self.pairs {
            *pair = MagazinePair::new(FULL_ROOM);
        }
    }
}

impl UnpooledCount<isize> {
    /// Adds this thread's differences to those of the process and returns the sums.
    fn publish(&mut self) -> (usize, usize) {
        let add = |total: &AtomicIsize, difference: &mut isize| {
            let difference = mem::take(difference);
            // Relaxed: a sum that is read at quiescence, where joining a thread orders its part.
            let sum = total.fetch_add(difference, Ordering::Relaxed) + difference;
            // Another thread may have counted the frees of blocks whose allocations are not counted
            // yet.
            sum.max(0) as usize
        };
        (add(&PASSED_ON.blocks, &mut self.blocks), add(&PASSED_ON.bytes, &mut self.bytes))
    }
}
