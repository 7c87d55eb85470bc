//! Tuples in tuples, deeper than the stack.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::{ManuallyDrop, forget};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::{LocalKey, panicking};

use crate::erased_tuple::ErasedTuple;

/// How deep destructors call each other.
const MAX_DROPPING: u32 = 64;

/// How deep tuples in tuples are printed.
const MAX_PRINTING: u32 = 64;

thread_local! {
    static DROPPING: Cell<u32> = const { Cell::new(0) };
    static PRINTING: Cell<u32> = const { Cell::new(0) };
    /// What waits for a destructor that is less deep. Empty, and without memory, once the outermost
    /// has ended; so it needs no destructor, and is there for those of other thread-locals.
    static LATER: RefCell<ManuallyDrop<Vec<ErasedTuple>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// One level of something, until it is dropped.
struct DepthLevel(&'static LocalKey<Cell<u32>>);

impl DepthLevel {
    /// `None` at the deepest one.
    fn enter(of: &'static LocalKey<Cell<u32>>, max: u32) -> Option<Self> {
        (of.get() < max).then(|| {
            of.set(of.get() + 1);
            Self(of)
        })
    }
}

impl Drop for DepthLevel {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Drops the elements of a tuple, now or when less deep destructors have ended.
#[inline]
pub(crate) fn drop_within(elements: ErasedTuple) {
    let Some(level) = DepthLevel::enter(&DROPPING, MAX_DROPPING) else {
        return drop_later(elements);
    };
    // Declared before, so that it also comes after a destructor that panics.
    let _deferred = (level.0.get() == 1).then(|| DeferredDrops);
    drop(elements);
}

#[cold]
fn drop_later(elements: ErasedTuple) {
    LATER.with_borrow_mut(|later| later.push(elements));
}

/// When dropped, drops what waits for that.
struct DeferredDrops;

impl Drop for DeferredDrops {
    #[inline]
    fn drop(&mut self) {
        if LATER.with_borrow(|later| !later.is_empty()) {
            Self::drop_all();
        }
    }
}

impl DeferredDrops {
    #[cold]
    fn drop_all() {
        let mut panicked = None;
        while let Some(elements) = LATER.with_borrow_mut(|later| later.pop()) {
            let ended = catch_unwind(AssertUnwindSafe(|| drop(elements)));
            if let Err(Some(earlier)) = ended.map_err(|payload| panicked.replace(payload)) {
                discard(earlier);
            }
        }
        let room = LATER.replace(ManuallyDrop::new(Vec::new()));
        drop(ManuallyDrop::into_inner(room));
        match panicked {
            // One panic is enough.
            Some(payload) if panicking() => discard(payload),
            Some(payload) => resume_unwind(payload),
            None => {}
        }
    }
}

/// Drops what a panic was called with, whatever its destructor does.
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        forget(another);
    }
}

/// Prints a tuple, unless it is too deep in others.
pub(crate) fn print_within<R>(print: impl FnOnce() -> R) -> Option<R> {
    let _level = DepthLevel::enter(&PRINTING, MAX_PRINTING)?;
    Some(print())
}
