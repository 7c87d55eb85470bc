//! What functions lend for the time of a call: lists of these calls, which each stack has of its
//! own.
//!
//! So a fiber can be suspended in the middle of such a call while others begin and end: an entry is
//! seen on its own stack only. A body that runs inline on that stack does not see it either: it is
//! not part of the caller.

use std::any::Any;
use std::cell::Cell;
use std::ptr::{self, NonNull};

use coact_sync::current_stack::{self, StackState};

use super::stack_place::BODIES;

/// Which of a stack's lists. They are of this module alone: each entry is a [`ScopeEntry`].
#[derive(Clone, Copy)]
pub(super) enum ScopeList {
    Values,
    Principals,
}

impl ScopeList {
    /// Returns where this list of a stack begins.
    #[inline(always)]
    fn newest(self, of: &StackState) -> &Cell<*const ()> {
        of.list(self as usize)
    }
}

/// A call that lends something, on the stack of that call.
struct ScopeEntry {
    value: Option<NonNull<dyn Any>>,
    /// The number of bodies on the stack.
    bodies: u32,
    /// The entry of the call around it, or null.
    older: Cell<*const ()>,
}

/// Takes an entry out of its list.
struct EntryGuard<'a> {
    newest: &'a Cell<*const ()>,
    entry: &'a ScopeEntry,
}

impl Drop for EntryGuard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.newest.get() == ptr::from_ref(self.entry).cast() {
            self.newest.set(self.entry.older.get());
        } else {
            self.unlink_older();
        }
    }
}

impl EntryGuard<'_> {
    /// There are newer entries: they are of calls that were suspended by something else than our
    /// fibers, which has not told of its stacks.
    #[cold]
    fn unlink_older(&self) {
        let gone = ptr::from_ref(self.entry).cast();
        let mut next = self.newest.get();
        // SAFETY: see `entry_at`.
        while let Some(entry) = unsafe { entry_at(next) } {
            next = entry.older.get();
            if next == gone {
                return entry.older.set(self.entry.older.get());
            }
        }
    }
}

/// # Safety
/// The pointer comes from one of the lists, or is null.
#[inline(always)]
unsafe fn entry_at<'a>(entry: *const ()) -> Option<&'a ScopeEntry> {
    // SAFETY: an entry is in its list from when it is linked until its call ends, and is unlinked
    // then, also if the call is unwound. Until then it does not move, and its memory is there: it
    // is on a stack that has this frame, and which is unwound before it is freed, or leaked with
    // all that is on it. No other thread is involved: a fiber stays on the one that has made it.
    unsafe { entry.cast::<ScopeEntry>().as_ref() }
}

/// Runs `work`, during which [`innermost`] returns `value`, where it is called by `work` itself.
#[inline]
pub(super) fn lend<R>(list: ScopeList, value: Option<&dyn Any>, work: impl FnOnce() -> R) -> R {
    current_stack::with_state(|state| {
        let newest = list.newest(state);
        let older = Cell::new(newest.get());
        let entry = ScopeEntry { value: value.map(NonNull::from), bodies: BODIES.get(), older };
        newest.set((&raw const entry).cast());
        let _unlink = EntryGuard { newest, entry: &entry };
        work()
    })
}

/// Returns the value of the innermost [`lend`] on the current stack, unless a body was called
/// inline since. That call is below the caller on this very stack, and ends after it.
pub(super) fn innermost(list: ScopeList) -> Option<NonNull<dyn Any>> {
    // SAFETY: the pointer is the list's.
    let entry = current_stack::with_state(|state| unsafe { entry_at(list.newest(state).get()) })?;
    entry.value.filter(|_| entry.bodies == BODIES.get())
}

#[cfg(all(test, not(loom)))]
mod tests;
