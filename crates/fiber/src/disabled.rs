//! The same names where stacks cannot be switched: no stack can be had, and so no fiber made.

use std::convert::Infallible;
use std::fmt::{self, Formatter};
use std::marker::PhantomData;

use crate::label::FiberLabel;
use crate::resume_outcome::ResumeOutcome;
use crate::stack_error::StackError;

const NO_FIBER: &str = "only a fiber can be suspended, and this build has none";

/// Whether this build can switch stacks.
pub const IS_SUPPORTED: bool = false;

/// A stack, of which there is none in this build.
pub struct Stack(Infallible);

impl Stack {
    /// Returns no stack.
    ///
    /// # Errors
    /// Always [`StackError::Unsupported`].
    pub fn take(_size: usize) -> Result<Self, StackError> {
        Err(StackError::Unsupported)
    }

    /// Returns how many bytes it has.
    pub fn size(&self) -> usize {
        match self.0 {}
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, _: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}

/// A fiber, of which there is none in this build.
pub struct Fiber<I: 'static, O: 'static> {
    never: Infallible,
    of: PhantomData<(*mut I, *mut O)>,
}

impl<I: 'static, O: 'static> Fiber<I, O> {
    /// Needs a stack, which cannot be had.
    pub fn new(stack: Stack, _label: FiberLabel, _body: impl FnOnce(I) + 'static) -> Self {
        Self { never: stack.0, of: PhantomData }
    }

    /// Runs the fiber.
    pub fn resume(&mut self, _input: I) -> ResumeOutcome<O> {
        match self.never {}
    }

    /// Returns whether it has ended.
    pub fn has_ended(&self) -> bool {
        match self.never {}
    }

    /// Leaks it.
    pub fn forget(self) {
        match self.never {}
    }
}

impl<I: 'static, O: 'static> fmt::Debug for Fiber<I, O> {
    fn fmt(&self, _: &mut Formatter<'_>) -> fmt::Result {
        match self.never {}
    }
}

/// Suspends nothing.
///
/// # Panics
/// Panics always.
#[track_caller]
pub fn suspend<I: 'static, O: 'static>(_output: O) -> I {
    panic!("{NO_FIBER}")
}

#[doc(hidden)]
#[track_caller]
pub fn suspend_enclosing<I: 'static, O: 'static>(_output: O) -> I {
    panic!("{NO_FIBER}")
}

#[doc(hidden)]
pub fn is_enclosed<I: 'static, O: 'static>() -> bool {
    false
}

/// Returns `false`.
pub fn is_in_fiber() -> bool {
    false
}

/// Returns `None`.
pub fn remaining_stack() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use crate::{IS_SUPPORTED, Stack, StackError, is_in_fiber, remaining_stack};

    #[test]
    fn no_stack_can_be_had() {
        assert!(matches!(Stack::take(1), Err(StackError::Unsupported)));
        assert!(!IS_SUPPORTED && !is_in_fiber() && remaining_stack().is_none());
    }
}
