//! What a behaviour's closure receives for a member named by value, or as possibly poisoned.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::handle::Cown;
use super::layout::CownBox;
use super::set::{AsCown, view_mut};
use crate::queue::header::{CownHeader, Flags};
use crate::queue::live_cown::LiveCown;

/// The state of a poisoned cown, for a [`checked`](crate::Cown::checked) member of a set.
///
/// The state may be inconsistent. Inspect or repair it through [`get_mut`](Self::get_mut), then
/// [`clear`](Self::clear) the mark; until then the cown stays poisoned.
#[doc(alias = "PoisonError")]
pub struct Poisoned<'a, T> {
    header: &'a CownHeader,
    state: &'a mut T,
}

impl<'a, T> Poisoned<'a, T> {
    /// # Safety
    /// The caller holds the cown exclusively for `'a`.
    pub(crate) unsafe fn new(cown: LiveCown) -> Self {
        // SAFETY: the caller holds the cown exclusively for `'a`, and `T` is the type of its state.
        unsafe { Self { header: cown.header(), state: &mut *CownBox::<T>::state(cown) } }
    }

    /// The same, with the view of the state that a handle shows.
    ///
    /// # Safety
    /// The cown is one of `H`'s, and the caller holds it exclusively for `'a`.
    pub(super) unsafe fn of_view<H: AsCown<View = T>>(cown: LiveCown) -> Self {
        // SAFETY: the caller holds the cown, one of `H`'s, exclusively for `'a`.
        unsafe { Self { header: cown.header(), state: view_mut::<H>(cown) } }
    }

    /// Returns the state as the panic left it.
    pub fn get_ref(&self) -> &T {
        self.state
    }

    /// Returns the state as the panic left it, for repair.
    pub fn get_mut(&mut self) -> &mut T {
        self.state
    }

    /// Clears the poison mark and returns the state.
    pub fn clear(self) -> &'a mut T {
        self.header.set(Flags::POISONED, false);
        self.state
    }
}

impl<T> fmt::Debug for Poisoned<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poisoned").finish_non_exhaustive()
    }
}

impl<T> fmt::Display for Poisoned<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cown is poisoned: a behaviour panicked while it held it")
    }
}

impl<T> std::error::Error for Poisoned<'_, T> {}

/// A cown that a behaviour was given by value: exclusive access to its state, and its handle.
///
/// For chains of behaviours (a token that is passed on, a philosopher's next meal) and for
/// behaviours that pass on their own address: the handle travels with the behaviour, and is neither
/// cloned nor counted.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call, when};
/// use coact::cown::Held;
///
/// fn count_down(mut n: Held<'_, u32>) {
///     if *n > 0 {
///         *n -= 1;
///         when(n.into_cown(), count_down);
///     }
/// }
///
/// let n = Cown::new(3);
/// when(n.clone(), count_down);
/// # coact::Runtime::global().wait_idle();
/// assert_eq!(call(&n, |n| *n).wait(), Ok(0));
/// ```
#[derive(Debug)]
pub struct Held<'a, T: Send + 'static> {
    state: &'a mut T,
    cown: Cown<T>,
}

impl<'a, T: Send + 'static> Held<'a, T> {
    #[inline]
    pub(crate) fn new(state: &'a mut T, cown: Cown<T>) -> Self {
        Self { state, cown }
    }

    /// Returns the cown.
    pub fn cown(&self) -> &Cown<T> {
        &self.cown
    }

    /// Returns the handle, giving up access to the state.
    #[inline]
    pub fn into_cown(self) -> Cown<T> {
        self.cown
    }

    /// Returns the state and the handle separately.
    #[inline]
    pub fn into_parts(self) -> (&'a mut T, Cown<T>) {
        (self.state, self.cown)
    }
}

impl<T: Send + 'static> Deref for Held<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.state
    }
}

impl<T: Send + 'static> DerefMut for Held<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.state
    }
}
