//! User values whose destructors may panic.

use std::ops::{Deref, DerefMut};

use super::drop_quietly;

/// A user value. A panic of its destructor is reported and goes no further, so several can be
/// dropped one after the other, and during unwinding, where a second panic would abort the process.
pub struct CatchDrop<T>(Option<T>);

impl<T> CatchDrop<T> {
    /// Wraps a value.
    pub fn new(value: T) -> Self {
        Self(Some(value))
    }

    /// Returns the value, whose destructor is the caller's from now on.
    pub fn into_inner(mut self) -> T {
        self.0.take().expect(TAKEN)
    }
}

const TAKEN: &str = "it is taken out once, when dropped";

impl<T> Deref for CatchDrop<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.as_ref().expect(TAKEN)
    }
}

impl<T> DerefMut for CatchDrop<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect(TAKEN)
    }
}

impl<T> Drop for CatchDrop<T> {
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            drop_quietly(move || drop(value));
        }
    }
}
