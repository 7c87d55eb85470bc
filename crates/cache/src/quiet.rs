//! Values of the program, whose destructors may panic.

use std::ops::{Deref, DerefMut};

use coact_core::internals::drop_quietly;

/// A value whose destructor may panic: that is reported, and nothing else is disturbed.
pub(crate) struct Quiet<T>(Option<T>);

impl<T> Quiet<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }

    pub(crate) fn into_inner(mut self) -> T {
        self.0.take().expect(IS_THERE)
    }
}

const IS_THERE: &str = "taken only by what consumes it";

impl<T> Deref for Quiet<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.as_ref().expect(IS_THERE)
    }
}

impl<T> DerefMut for Quiet<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect(IS_THERE)
    }
}

impl<T> Drop for Quiet<T> {
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            drop_quietly(move || drop(value));
        }
    }
}
