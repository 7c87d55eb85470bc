//! Each thread's own free stacks.
//!
//! They are in a thread-local without a destructor, which can be used at any time, in destructors
//! of other thread-locals too. What has to happen when the thread ends is registered when it first
//! keeps a stack.

use std::cell::UnsafeCell;
use std::mem;

use super::super::size_class::{CLASSES, SizeClass};
use super::depot::Depot;
use super::free_list::{FreeList, FreeStack};
use super::trim::{is_large, trim};
use crate::stack_error::StackError;

/// The most stacks of a class that a thread keeps.
const MAX_STACKS: usize = 32;

/// How many it takes from the depot at a time, beside the one that it needs.
const TAKE_BATCH: usize = 7;

/// How many it gives to the depot when it has the most.
const GIVE_BATCH: usize = MAX_STACKS / 2;

thread_local! {
    static CACHE: UnsafeCell<Cache> = const { UnsafeCell::new(Cache::new()) };
    static FLUSH_AT_EXIT: FlushAtExit = const { FlushAtExit };
}

struct Cache {
    free: [FreeList; CLASSES],
    phase: ThreadPhase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ThreadPhase {
    /// Has kept no stack yet.
    Fresh,
    /// The flush at the end is registered, so stacks may be kept.
    Active,
    /// Has flushed for good: each stack goes to the depot.
    Ended,
}

struct FlushAtExit;

impl Drop for FlushAtExit {
    fn drop(&mut self) {
        with_cache(|cache| cache.phase = ThreadPhase::Ended);
        for class in SizeClass::all() {
            let free = with_cache(|cache| mem::replace(cache.list(class), FreeList::new()));
            if free.count() > 0 {
                Depot::of(class).put(class, free);
            }
        }
    }
}

pub(super) fn take(class: SizeClass) -> Result<FreeStack, StackError> {
    if let Some(stack) = with_cache(|cache| cache.list(class).pop()) {
        return Ok(stack);
    }
    let most = if is_active() { TAKE_BATCH } else { 0 };
    let (stack, others) = Depot::of(class).take(class, most)?;
    with_cache(|cache| cache.list(class).append(others));
    Ok(stack)
}

pub(super) fn put(class: SizeClass, mut stack: FreeStack) {
    if is_large(class) {
        trim(&mut stack, class);
    }
    let is_active = is_active();
    let surplus = with_cache(|cache| {
        let free = cache.list(class);
        free.push(stack);
        let most = if is_active { MAX_STACKS } else { 0 };
        (free.count() > most).then(|| free.split(GIVE_BATCH))
    });
    if let Some(surplus) = surplus {
        Depot::of(class).put(class, surplus);
    }
}

/// Returns whether this thread may keep stacks. The first call registers the flush at its end.
fn is_active() -> bool {
    if with_cache(|cache| cache.phase) == ThreadPhase::Fresh {
        // Unless the thread is too far gone to run a destructor.
        let registered = FLUSH_AT_EXIT.try_with(|_| ()).is_ok();
        let phase = if registered { ThreadPhase::Active } else { ThreadPhase::Ended };
        with_cache(|cache| cache.phase = phase);
    }
    with_cache(|cache| cache.phase) == ThreadPhase::Active
}

/// Runs `f` on this thread's cache.
///
/// `f` must not re-enter this function, or there would be two exclusive borrows. All callers are in
/// this file, and each `f` only moves stacks within lists.
#[inline(always)]
fn with_cache<R>(f: impl FnOnce(&mut Cache) -> R) -> R {
    // SAFETY: only this thread reaches the cache, `f` does not re-enter (see above), and there is
    // no destructor, so it is valid as long as the thread runs code.
    CACHE.with(|cache| f(unsafe { &mut *cache.get() }))
}

impl Cache {
    const fn new() -> Self {
        Self { free: [const { FreeList::new() }; CLASSES], phase: ThreadPhase::Fresh }
    }

    fn list(&mut self, class: SizeClass) -> &mut FreeList {
        &mut self.free[class.index()]
    }
}
