//! Handles of which the last is not dropped, but passed to the state's owner.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use crate::cown::handle::Cown;
use crate::interrupt::interruptible::Interruptible;

/// A handle of an interruptible cown. The last one is passed to [`Interruptible::unreachable`]
/// instead of being dropped.
pub struct InterruptibleHandle<T: Interruptible>(ManuallyDrop<Cown<T>>);

impl<T: Interruptible> InterruptibleHandle<T> {
    /// Wraps a plain handle.
    #[inline]
    pub fn new(cown: Cown<T>) -> Self {
        Self(ManuallyDrop::new(cown))
    }

    /// Returns the plain handle, which is not checked when it is dropped.
    #[inline]
    pub fn into_cown(self) -> Cown<T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the handle is taken once: the destructor, which would take it, does not run.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

impl<T: Interruptible> Deref for InterruptibleHandle<T> {
    type Target = Cown<T>;

    #[inline]
    fn deref(&self) -> &Cown<T> {
        &self.0
    }
}

impl<T: Interruptible> Clone for InterruptibleHandle<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self::new(Cown::clone(self))
    }
}

impl<T: Interruptible> Drop for InterruptibleHandle<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the handle is taken once, in the destructor, and not used afterwards.
        let cown = unsafe { ManuallyDrop::take(&mut self.0) };
        if let Some(last) = cown.drop_unless_last() {
            T::unreachable(last);
        }
    }
}
