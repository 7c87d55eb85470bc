//! Which stack the current thread is on, and whether it may leave that.
//!
//! The layer that switches stacks says so here; the layers above ask. What a function lends to its
//! thread for the time of a call is then seen on the stack of that call only.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;

thread_local! {
    // Without destructors: signal handlers use the first, and destructors of other thread-locals
    // both.
    static CURRENT: Cell<*const ()> = const { Cell::new(ptr::null()) };
    static PINS: Cell<u32> = const { Cell::new(0) };
}

/// Returns what stands for the stack that the thread is on: null for the thread's own stack, and for
/// that of a fiber an address on it.
#[inline(always)]
#[must_use]
pub fn current() -> *const () {
    CURRENT.get()
}

/// Says that the thread is about to go to another stack. Returns what stood for the one before.
///
/// # Safety
/// `stack` is null, or an address on the stack to which the thread goes next. That stack is not
/// freed while there is a frame on it.
#[inline(always)]
pub unsafe fn set_current(stack: *const ()) -> *const () {
    CURRENT.replace(stack)
}

/// Pins the current thread to its stack until dropped: a fiber that runs there must not be
/// suspended.
///
/// For a function that changes something of the whole thread while it calls code of the user, and
/// undoes that when it returns. Costs two instructions.
#[derive(Debug)]
#[must_use = "the stack is pinned until this is dropped"]
pub struct PinnedStack(PhantomData<*const ()>);

impl PinnedStack {
    /// Pins the stack.
    #[inline(always)]
    pub fn new() -> Self {
        PINS.set(PINS.get() + 1);
        Self(PhantomData)
    }
}

impl Default for PinnedStack {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for PinnedStack {
    #[inline(always)]
    fn drop(&mut self) {
        PINS.set(PINS.get() - 1);
    }
}

/// Returns how often the stacks of this thread are pinned, on which it runs.
#[inline(always)]
#[must_use]
pub fn pins() -> u32 {
    PINS.get()
}

/// Sets that number, for a simulator, whose threads share one. Returns the one before.
pub fn set_pins(pins: u32) -> u32 {
    PINS.replace(pins)
}

#[cfg(test)]
mod tests {
    use super::{PinnedStack, current, pins};

    #[test]
    fn a_thread_begins_on_its_own_stack_and_unpinned() {
        assert!(current().is_null());
        assert_eq!(pins(), 0);
    }

    #[test]
    fn pins_nest() {
        let outer = PinnedStack::new();
        let inner = PinnedStack::new();
        assert_eq!(pins(), 2);
        drop(outer);
        drop(inner);
        assert_eq!(pins(), 0);
    }
}
