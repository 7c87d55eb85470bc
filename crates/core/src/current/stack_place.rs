//! Places on the stacks of a thread.

use std::cell::Cell;

use coact_sync::current_stack;

thread_local! {
    /// The number of bodies on the current stack.
    pub(super) static BODIES: Cell<u32> = const { Cell::new(0) };
}

/// A place on the stacks of a thread: it differs for a body that is called inline, and on a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackPlace {
    stack: *const (),
    bodies: u32,
}

impl StackPlace {
    /// Returns the place of the caller.
    #[must_use]
    pub fn current() -> Self {
        Self { stack: current_stack::current().cast(), bodies: BODIES.get() }
    }
}
