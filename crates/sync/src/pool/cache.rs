//! Magazines: each thread's own free blocks, and the fast path.
//!
//! The table is thread-local, starts as zeroes and has no destructor, so that in an executable it
//! is reached by one instruction relative to the thread pointer. Everything that must happen once a
//! thread (asking for the flush at its end) hangs on the slow path, which the zeroes lead to: a
//! magazine begins with no block to take and no room to add one.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::mem;
use std::ptr::NonNull;

use super::PoolStats;
use super::class::{CLASSES, SizeClass};
use super::depot::{BATCH, Batch, Depot};
use super::slab::Block;
use crate::shim::alloc as raw;
use crate::shim::process::{AtomicIsize, Ordering};

/// Blocks that were passed on to the program's allocator, by threads that have ended or flushed.
static PASSED_ON: Passed<AtomicIsize> =
    Passed { blocks: AtomicIsize::new(0), bytes: AtomicIsize::new(0) };

/// The room of an empty magazine that may keep blocks.
const FULL_ROOM: isize = BATCH as isize;

thread_local! {
    static CACHE: UnsafeCell<Cache> = const { UnsafeCell::new(Cache::new()) };
    static FLUSH_AT_EXIT: FlushAtExit = const { FlushAtExit };
}

/// One thread's part of the pool.
struct Cache {
    racks: [Rack; CLASSES],
    life: Life,
    passed_on: Passed<isize>,
}

/// Two magazines of one class. `previous` is full or empty, `loaded` anything.
struct Rack {
    loaded: Magazine,
    previous: Magazine,
}

/// A list of free blocks.
struct Magazine {
    head: Option<NonNull<Block>>,
    /// How many more fit. Zero in a thread that has not begun (or has ended) to keep blocks. Less than that only until
    /// whoever has found no room has said so to [`Magazine::refuse`].
    room: isize,
}

/// What has been passed on and not come back: differences, since another thread may free.
struct Passed<T> {
    blocks: T,
    bytes: T,
}

/// Where a thread stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    /// Not used the pool yet: no magazine has room.
    Fresh,
    /// The flush at the end is arranged for, so blocks may be kept.
    Active,
    /// Flushed for good: no magazine has room, each block goes to the depot.
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
    match with_cache(|cache| cache.rack(class).loaded.pop()) {
        Some(block) => block.cast(),
        None => refill(class).cast(),
    }
}

#[inline(always)]
pub(super) fn try_alloc(layout: Layout) -> Option<NonNull<u8>> {
    let class = SizeClass::of(layout)?;
    with_cache(|cache| cache.rack(class).loaded.pop()).map(NonNull::cast)
}

/// # Safety
///
/// As [`super::dealloc`].
#[inline]
pub(super) unsafe fn dealloc(block: NonNull<u8>, layout: Layout) {
    let Some(class) = SizeClass::of(layout) else {
        // SAFETY: the layout has no class, so `alloc` passed it on as well; the rest is the
        // caller's promise.
        return unsafe { take_back(block, layout) };
    };
    let block = block.cast();
    // SAFETY: the caller gives up a block of this class: at least 8 bytes, aligned to 8.
    let kept = with_cache(|cache| unsafe { cache.rack(class).loaded.push(block) });
    if !kept {
        // SAFETY: as above; it has not been pushed.
        unsafe { make_room(class, block) };
    }
}

/// Takes the block back if there is room for it at hand, and says whether it has. If not, the next thing is
/// [`dealloc_refused`].
///
/// # Safety
///
/// As [`super::dealloc`].
#[inline(always)]
pub(super) unsafe fn try_dealloc(block: NonNull<u8>, layout: Layout) -> bool {
    let Some(class) = SizeClass::of(layout) else { return false };
    // SAFETY: the caller gives up a block of this class: at least 8 bytes, aligned to 8.
    with_cache(|cache| unsafe { cache.rack(class).loaded.push(block.cast()) })
}

/// Takes a block back that [`try_dealloc`] has not taken.
///
/// # Safety
///
/// As [`super::dealloc`].
pub(super) unsafe fn dealloc_refused(block: NonNull<u8>, layout: Layout) {
    match SizeClass::of(layout) {
        // SAFETY: the caller gives up a block of this class.
        Some(class) => unsafe { make_room(class, block.cast()) },
        // SAFETY: a layout without a class was passed on by `alloc`.
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
        let kept = with_cache(|cache| cache.rack(class).kept());
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
/// `f` must not come back here, or there would be two exclusive borrows. All callers are in this
/// file, and each `f` only moves blocks within the cache: it calls neither a depot nor an
/// allocator, which might be one that uses this pool.
#[inline(always)]
fn with_cache<R>(f: impl FnOnce(&mut Cache) -> R) -> R {
    // SAFETY: the cache is this thread's alone, `f` does not come back (see above), and the table
    // has no destructor, so it is there as long as the thread runs code.
    CACHE.with(|cache| f(unsafe { &mut *cache.get() }))
}

/// The loaded magazine is empty: loads another and takes a block from it.
#[cold]
#[inline(never)]
fn refill(class: SizeClass) -> NonNull<Block> {
    let depot = Depot::of(class);
    if !is_active() {
        return depot.take_one(class);
    }
    if let Some(block) = with_cache(|cache| cache.rack(class).pop_previous()) {
        return block;
    }
    let (first, rest) = depot.take(class).split_first();
    if let Some(rest) = rest
        && let Some(batch) = with_cache(|cache| cache.rack(class).load(rest))
    {
        depot.put(class, batch);
    }
    first
}

/// The loaded magazine has just found no room for `block`: puts an empty one in its place and `block` into that.
///
/// # Safety
///
/// As [`Magazine::push`].
#[cold]
#[inline(never)]
unsafe fn make_room(class: SizeClass, block: NonNull<Block>) {
    let depot = Depot::of(class);
    with_cache(|cache| cache.rack(class).loaded.refuse());
    if !is_active() {
        // SAFETY: the caller gives the block up.
        return depot.put(class, unsafe { Batch::of_one(block) });
    }
    // SAFETY: passed on from the caller; one of the two calls keeps the block, the first one if
    // the thread has only now become active.
    let full = with_cache(|cache| unsafe { cache.rack(class).push_to_empty(block) });
    if let Some(batch) = full {
        depot.put(class, batch);
    }
}

/// Whether this thread may keep blocks. The first call arranges for the flush at its end.
fn is_active() -> bool {
    if with_cache(|cache| cache.life) == Life::Fresh {
        begin();
    }
    with_cache(|cache| cache.life) == Life::Active
}

#[cold]
fn begin() {
    // Registers the destructor, unless the thread is so far gone that there will be none.
    let registered = FLUSH_AT_EXIT.try_with(|_| ()).is_ok();
    with_cache(|cache| match (cache.life, registered) {
        (Life::Fresh, true) => cache.begin(),
        (Life::Fresh, false) => cache.life = Life::Ended,
        // The registration allocated, and the program's allocator came here.
        _ => {}
    });
}

/// The last flush: from here on no block is kept.
fn end() {
    with_cache(|cache| cache.life = Life::Ended);
    flush(0);
}

/// Moves every block to the depots, and leaves magazines with this much room.
fn flush(room: isize) {
    for class in SizeClass::all() {
        let rack = with_cache(|cache| mem::replace(cache.rack(class), Rack::new(room)));
        for batch in [rack.loaded, rack.previous].into_iter().filter_map(Magazine::into_batch) {
            Depot::of(class).put(class, batch);
        }
    }
    with_cache(|cache| cache.passed_on.publish());
}

/// A block for a layout that the pool does not serve.
#[inline(never)]
fn pass_on(layout: Layout) -> NonNull<u8> {
    count_passed_on(1, layout.size() as isize);
    // SAFETY: a layout of size zero has a class unless it is aligned to more than the pool serves,
    // and `nonzero` sees to that one.
    let block = unsafe { raw::alloc(nonzero(layout)) };
    NonNull::new(block).unwrap_or_else(|| raw::handle_alloc_error(layout))
}

/// # Safety
///
/// The block came from [`pass_on`] with the same layout and is not used any more.
#[inline(never)]
unsafe fn take_back(block: NonNull<u8>, layout: Layout) {
    count_passed_on(-1, -(layout.size() as isize));
    // SAFETY: per the caller `pass_on` got it from the same allocator, with the same layout.
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

/// The allocator must not be asked for nothing.
fn nonzero(layout: Layout) -> Layout {
    Layout::from_size_align(layout.size().max(1), layout.align()).unwrap_or(layout)
}

impl Cache {
    const fn new() -> Self {
        Self {
            racks: [const { Rack::new(0) }; CLASSES],
            life: Life::Fresh,
            passed_on: Passed { blocks: 0, bytes: 0 },
        }
    }

    #[inline(always)]
    fn rack(&mut self, class: SizeClass) -> &mut Rack {
        &mut self.racks[class.index()]
    }

    /// Gives the magazines their room.
    fn begin(&mut self) {
        self.life = Life::Active;
        for rack in &mut self.racks {
            *rack = Rack::new(FULL_ROOM);
        }
    }
}

impl Rack {
    const fn new(room: isize) -> Self {
        Self { loaded: Magazine::with_room(room), previous: Magazine::with_room(room) }
    }

    /// Takes a block from the other magazine, which becomes the loaded one.
    fn pop_previous(&mut self) -> Option<NonNull<Block>> {
        mem::swap(&mut self.loaded, &mut self.previous);
        self.loaded.pop()
    }

    /// Loads a batch; gives back what was loaded before: nothing, unless the program's allocator
    /// came here meanwhile.
    fn load(&mut self, batch: Batch) -> Option<Batch> {
        let before = self.loaded.empty();
        self.loaded = Magazine::holding(batch);
        before
    }

    /// Adds a block; if that takes an empty magazine and there is none, makes one and gives back
    /// what it held.
    ///
    /// # Safety
    ///
    /// As [`Magazine::push`].
    unsafe fn push_to_empty(&mut self, block: NonNull<Block>) -> Option<Batch> {
        // SAFETY: passed on from the caller.
        if unsafe { self.loaded.push(block) } {
            return None;
        }
        self.loaded.refuse();
        mem::swap(&mut self.loaded, &mut self.previous);
        let full = self.loaded.empty();
        // SAFETY: passed on from the caller; the first call did not keep the block.
        let kept = unsafe { self.loaded.push(block) };
        debug_assert!(kept, "an emptied magazine has room");
        full
    }

    /// The number of blocks in both magazines.
    fn kept(&self) -> usize {
        self.loaded.count() + self.previous.count()
    }
}

impl Magazine {
    const fn with_room(room: isize) -> Self {
        Self { head: None, room }
    }

    /// A batch becomes a magazine.
    fn holding(batch: Batch) -> Self {
        Self { head: Some(batch.head), room: FULL_ROOM - batch.count as isize }
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<NonNull<Block>> {
        let block = self.head?;
        // SAFETY: a block in the list is free and ours, and was written when it was linked.
        self.head = unsafe { block.as_ref().next };
        self.room += 1;
        Some(block)
    }

    /// Adds a block; `false` if there is no room: then [`refuse`](Self::refuse) must follow. Counting first, and looking at
    /// the result, is one instruction where a look before it would take three.
    ///
    /// # Safety
    ///
    /// The caller gives up the memory at `block`, which has the size and alignment of the class.
    #[inline(always)]
    unsafe fn push(&mut self, block: NonNull<Block>) -> bool {
        self.room -= 1;
        if self.room < 0 {
            return false;
        }
        // SAFETY: per the caller the memory is ours, and every class is large enough for a link.
        unsafe { block.write(Block { next: self.head }) };
        self.head = Some(block);
        true
    }

    /// Puts the count right after a block that there was no room for.
    fn refuse(&mut self) {
        self.room += 1;
        debug_assert_eq!(self.room, 0, "a magazine that refuses a block is full");
    }

    fn count(&self) -> usize {
        // A magazine without blocks may also be one without room: of a thread that keeps none.
        if self.head.is_none() { 0 } else { (FULL_ROOM - self.room) as usize }
    }

    /// A magazine becomes a batch, if it holds anything.
    fn into_batch(self) -> Option<Batch> {
        let count = self.count();
        self.head.map(|head| Batch { head, count })
    }

    /// Takes everything out of a magazine of an active thread.
    fn empty(&mut self) -> Option<Batch> {
        mem::replace(self, Self::with_room(FULL_ROOM)).into_batch()
    }
}

impl Passed<isize> {
    /// Adds this thread's differences to the process's and returns those.
    fn publish(&mut self) -> (usize, usize) {
        let add = |total: &AtomicIsize, difference: &mut isize| {
            let difference = mem::take(difference);
            // Relaxed: a sum, read at quiescence, where joining a thread orders its part.
            let sum = total.fetch_add(difference, Ordering::Relaxed) + difference;
            // Another thread may have counted the frees of blocks whose allocation is not counted.
            sum.max(0) as usize
        };
        (add(&PASSED_ON.blocks, &mut self.blocks), add(&PASSED_ON.bytes, &mut self.bytes))
    }
}
