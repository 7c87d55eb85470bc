//! What functions lend to their thread for the time of a call: a list of these calls.
//!
//! A fiber can be suspended in the middle of such a call, and others begin and end meanwhile. So a
//! call that ends does not restore what was lent before it: it takes its own entry out of the list,
//! wherever that is. An entry is seen on its own stack only, and not by a body that is called
//! inline there, which is none of the caller's.

use std::cell::Cell;
use std::ptr::null;
use std::thread::LocalKey;

use super::stack_place::StackPlace;

/// The list of a thread: its newest entry.
pub(super) struct ScopeList<T>(*const ScopeEntry<T>);

impl<T> ScopeList<T> {
    pub(super) const EMPTY: Self = Self(null());
}

impl<T> Clone for ScopeList<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ScopeList<T> {}

impl<T> Default for ScopeList<T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// A call that lends something, on the stack of that call.
struct ScopeEntry<T> {
    value: T,
    at: StackPlace,
    older: Cell<*const Self>,
    newer: Cell<*const Self>,
}

type ScopeKey<T> = LocalKey<Cell<ScopeList<T>>>;

/// Runs `work`, during which [`innermost`] returns `value`, where it is called by `work` itself.
pub(super) fn lend<T: Copy + 'static, R>(
    list: &'static ScopeKey<T>,
    value: T,
    work: impl FnOnce() -> R,
) -> R {
    /// Takes the entry out of the list.
    struct EntryGuard<'a, T: Copy + 'static>(&'static ScopeKey<T>, &'a ScopeEntry<T>);
    impl<T: Copy> Drop for EntryGuard<'_, T> {
        fn drop(&mut self) {
            let Self(list, entry) = self;
            let (older, newer) = (entry.older.get(), entry.newer.get());
            // SAFETY: each entry is in the list from when it is linked until it is dropped, which is
            // here. Its memory outlasts that: it is on a stack that has this frame, and which is
            // unwound before it is freed, or leaked with all that is on it. A fiber stays on the
            // thread that has made it, so no other thread is involved.
            unsafe {
                if let Some(older) = older.as_ref() {
                    older.newer.set(newer);
                }
                match newer.as_ref() {
                    Some(newer) => newer.older.set(older),
                    None => list.set(ScopeList(older)),
                }
            }
        }
    }
    let (older, newer) = (Cell::new(list.get().0), Cell::new(null()));
    let entry = ScopeEntry { value, at: StackPlace::current(), older, newer };
    // SAFETY: an entry of the list has not been dropped (see `EntryGuard`). This one does not move.
    if let Some(older) = unsafe { entry.older.get().as_ref() } {
        older.newer.set(&raw const entry);
    }
    list.set(ScopeList(&raw const entry));
    let _unlink = EntryGuard(list, &entry);
    work()
}

/// Returns the value of the innermost [`lend`] on the current stack, unless a body was called inline
/// since. That call is below the caller on this very stack, and ends after it.
pub(super) fn innermost<T: Copy + 'static>(list: &'static ScopeKey<T>) -> Option<T> {
    let here = StackPlace::current();
    let mut next = list.get().0;
    // SAFETY: an entry of the list has not been dropped (see `EntryGuard`).
    while let Some(entry) = unsafe { next.as_ref() } {
        if entry.at.is_on_stack_of(here) {
            return (entry.at == here).then_some(entry.value);
        }
        next = entry.older.get();
    }
    None
}

#[cfg(all(test, not(loom)))]
mod tests;
