//! Which stack the current thread is on, what is kept for it, and whether the thread may leave it.
//!
//! The layer that switches stacks says so here; the layers above ask. What a function lends for the
//! time of a call is then kept for the stack of that call, and seen on that stack only.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;

/// The number of [lists](StackState::list).
const LISTS: usize = 2;

/// What the layers above keep for one stack: where their lists of calls on that stack begin.
#[derive(Debug)]
pub struct StackState {
    lists: [Cell<*const ()>; LISTS],
}

impl StackState {
    /// The state of a stack without frames: all lists are empty.
    #[must_use]
    pub const fn new() -> Self {
        Self { lists: [const { Cell::new(ptr::null()) }; LISTS] }
    }

    /// Returns where one of the lists begins, or null. One layer alone uses the list, and knows of
    /// what type its entries are.
    #[inline(always)]
    #[must_use]
    pub fn list(&self, number: usize) -> &Cell<*const ()> {
        &self.lists[number]
    }
}

impl Default for StackState {
    fn default() -> Self {
        Self::new()
    }
}

thread_local! {
    // Without destructors: signal handlers use the first, and destructors of other thread-locals
    // all.
    static CURRENT: Cell<*const StackState> = const { Cell::new(ptr::null()) };
    /// That of the thread's own stack.
    static OWN: StackState = const { StackState::new() };
    static PINS: Cell<u32> = const { Cell::new(0) };
}

/// Returns what stands for the stack that the thread is on: null for the thread's own stack, and
/// for that of a fiber the address of its state.
#[inline(always)]
#[must_use]
pub fn current() -> *const StackState {
    CURRENT.get()
}

/// Passes `work` the state of the stack that the thread is on.
#[inline(always)]
pub fn with_state<R>(work: impl FnOnce(&StackState) -> R) -> R {
    let current = CURRENT.get();
    let state = if current.is_null() { OWN.with(ptr::from_ref) } else { current };
    // SAFETY: it is the state of the stack that has this frame. That of a fiber's stack is kept as
    // long as there is a frame (see `set_current`), and that of the thread's own stack is as old as
    // the thread and has no destructor.
    work(unsafe { &*state })
}

/// Says that the thread is about to go to another stack. Returns what stood for the one before.
///
/// # Safety
/// `stack` is null, or the state of the stack to which the thread goes next. The state is not freed
/// while there is a frame on that stack.
#[inline(always)]
pub unsafe fn set_current(stack: *const StackState) -> *const StackState {
    CURRENT.replace(stack)
}

/// Pins the current thread to its stack until dropped: a fiber that runs there must not be
/// suspended.
///
/// For a function that changes something of the whole thread while it calls code of the user, and
/// undoes that when it returns. Costs two instructions.
#[derive(Debug)]
#[must_use = "the stack is pinned until this is dropped"]
pub struct StackPin(PhantomData<*const ()>);

impl StackPin {
    /// Pins the stack.
    #[inline(always)]
    pub fn new() -> Self {
        PINS.set(PINS.get() + 1);
        Self(PhantomData)
    }
}

impl Default for StackPin {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for StackPin {
    #[inline(always)]
    fn drop(&mut self) {
        PINS.set(PINS.get() - 1);
    }
}

/// Returns the number of pins that this thread holds, over all stacks that it is on.
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
    use super::{StackPin, StackState, current, pins, set_current, with_state};

    #[test]
    fn a_thread_begins_on_its_own_stack_and_unpinned() {
        assert!(current().is_null());
        assert_eq!(pins(), 0);
    }

    #[test]
    fn each_stack_has_its_own_lists() {
        let of = |list: usize| with_state(|state| state.list(list).get());
        let set = |entry: *const ()| with_state(|state| state.list(0).set(entry));
        let (other, room) = (StackState::new(), [0_u8; 2]);
        let entries = room.each_ref().map(|place| std::ptr::from_ref(place).cast::<()>());
        set(entries[0]);
        // SAFETY: the state outlives what is called until the thread's own is set again.
        let own = unsafe { set_current(&raw const other) };
        assert!(of(0).is_null() && of(1).is_null());
        set(entries[1]);
        assert_eq!(of(0), entries[1]);
        // SAFETY: it is null, the thread's own.
        unsafe { set_current(own) };
        assert_eq!((of(0), other.list(0).get()), (entries[0], entries[1]));
        set(std::ptr::null());
    }

    #[test]
    fn pins_nest() {
        let outer = StackPin::new();
        let inner = StackPin::new();
        assert_eq!(pins(), 2);
        drop(outer);
        drop(inner);
        assert_eq!(pins(), 0);
    }
}
