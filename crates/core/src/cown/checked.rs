//! Members of sets that may be poisoned or closed: what the closure gets for each.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::access::Poisoned;
use super::cursor::Cursor;
use super::handle::Cown;
use super::set::{AsCown, view, view_mut};
use crate::queue::header::{CownHeader, Flags};

/// The state of a cown that a panic has poisoned, as a member of a set gets it that is
/// [read checked](crate::cown::Read::checked). To clear the mark, name the cown exclusively
/// ([`checked`](crate::Cown::checked)).
pub struct PoisonedRead<'a, T>(&'a T);

impl<'a, T> PoisonedRead<'a, T> {
    pub(crate) fn new(state: &'a T) -> Self {
        Self(state)
    }

    /// The state as the panic left it.
    pub fn get_ref(&self) -> &'a T {
        self.0
    }
}

impl<T> fmt::Debug for PoisonedRead<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoisonedRead").finish_non_exhaustive()
    }
}

impl<T> fmt::Display for PoisonedRead<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the cown is poisoned: a behaviour panicked while it held it")
    }
}

impl<T> std::error::Error for PoisonedRead<'_, T> {}

/// Why a member of a checked slice ([`checked_all`](crate::cown::checked_all),
/// [`ReadAll::checked`](crate::cown::ReadAll::checked)) has no sound state. `P` gives access to one that is
/// poisoned: [`Poisoned`] or [`PoisonedRead`].
#[derive(Debug)]
#[non_exhaustive]
pub enum MemberError<P> {
    /// A behaviour panicked while it held the cown.
    Poisoned(P),
    /// The cown is closed: its state has ended, as that of an actor that has stopped.
    Closed,
}

impl<P: fmt::Display> fmt::Display for MemberError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemberError::Poisoned(poisoned) => poisoned.fmt(f),
            MemberError::Closed => f.write_str("the cown is closed: its state has ended"),
        }
    }
}

impl<P: std::error::Error> std::error::Error for MemberError<P> {}

/// Exclusive access to the states of a slice of cowns, of which some may be poisoned or closed; see
/// [`checked_all`](crate::cown::checked_all).
pub struct CheckedMembers<'a, T, H = Cown<T>> {
    cursor: Cursor<'a>,
    states: PhantomData<&'a mut T>,
    /// Invariant: `H` alone tells of what type the states are.
    handles: PhantomData<fn(H) -> H>,
}

/// Read access to the states of a slice of cowns, of which some may be poisoned or closed; see
/// [`ReadAll::checked`](crate::cown::ReadAll::checked).
pub struct CheckedReadMembers<'a, T, H = Cown<T>> {
    cursor: Cursor<'a>,
    states: PhantomData<&'a T>,
    /// Invariant: `H` alone tells of what type the states are.
    handles: PhantomData<fn(H) -> H>,
}

// SAFETY: like `Vec<Result<&mut T, _>>`, as `Members`.
unsafe impl<T: Send, H> Send for CheckedMembers<'_, T, H> {}
// SAFETY: through `&CheckedMembers` only `&View` can be reached, and `&State`, of which views are made.
unsafe impl<H: AsCown<State: Sync, View: Sync>> Sync for CheckedMembers<'_, H::View, H> {}
// SAFETY: like `Vec<Result<&T, _>>`. (The states are `Sync`, or there would be none.)
unsafe impl<T: Sync, H> Send for CheckedReadMembers<'_, T, H> {}
// SAFETY: as above.
unsafe impl<T: Sync, H> Sync for CheckedReadMembers<'_, T, H> {}

/// What a checked member is read as.
type Checked<'a, T> = Result<&'a T, MemberError<PoisonedRead<'a, T>>>;
/// What a checked member is held as.
type CheckedMut<'a, T> = Result<&'a mut T, MemberError<Poisoned<'a, T>>>;

/// Whether a behaviour on the handle's cown does not find a state.
///
/// # Safety
/// The cown is held.
unsafe fn is_closed<H: AsCown>(cown: NonNull<CownHeader>) -> bool {
    // SAFETY: held, so alive.
    !H::UNCHECKED && unsafe { cown.as_ref() }.has(Flags::CLOSED)
}

/// # Safety
/// The cown is one of `H`'s, and nobody changes its state for `'a`.
unsafe fn read<'a, H: AsCown>(cown: NonNull<CownHeader>) -> Checked<'a, H::View> {
    // SAFETY: held, and one of `H`'s.
    unsafe {
        if is_closed::<H>(cown) {
            return Err(MemberError::Closed);
        }
        let state = view::<H>(cown);
        if cown.as_ref().is_poisoned() {
            return Err(MemberError::Poisoned(PoisonedRead::new(state)));
        }
        Ok(state)
    }
}

/// # Safety
/// The cown is one of `H`'s, held exclusively for `'a`, and nobody else has a reference to its state.
unsafe fn hold<'a, H: AsCown>(cown: NonNull<CownHeader>) -> CheckedMut<'a, H::View> {
    // SAFETY: held exclusively, and one of `H`'s.
    unsafe {
        if is_closed::<H>(cown) {
            return Err(MemberError::Closed);
        }
        if cown.as_ref().is_poisoned() {
            return Err(MemberError::Poisoned(Poisoned::of_view::<H>(cown)));
        }
        Ok(view_mut::<H>(cown))
    }
}

/// A single cown that is read and may be poisoned.
///
/// # Safety
/// The cown is one of `H`'s, and held for reading for `'a`.
pub(super) unsafe fn read_one<'a, H: AsCown>(
    cown: NonNull<CownHeader>,
) -> Result<&'a H::View, PoisonedRead<'a, H::View>> {
    // SAFETY: held, and one of `H`'s.
    unsafe {
        let state = view::<H>(cown);
        if cown.as_ref().is_poisoned() { Err(PoisonedRead::new(state)) } else { Ok(state) }
    }
}

impl<'a, H: AsCown> CheckedMembers<'a, H::View, H> {
    /// # Safety
    /// The cowns that the cursor runs over are those of `H`'s, distinct, and held exclusively for `'a`.
    pub(super) unsafe fn new(cursor: Cursor<'a>) -> Self {
        Self { cursor, states: PhantomData, handles: PhantomData }
    }

    /// How many cowns the slice has.
    pub fn len(&self) -> usize {
        self.cursor.len()
    }

    /// Whether the slice is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The state of the cown at a position of the slice, or why it is not sound.
    pub fn get(&self, index: usize) -> Option<Checked<'_, H::View>> {
        let cown = self.cursor.get(index)?.header_ptr();
        // SAFETY: held, and borrowed as `self` is.
        Some(unsafe { read::<H>(cown) })
    }

    /// The state of the cown at a position of the slice, to change it, or why it is not sound.
    pub fn get_mut(&mut self, index: usize) -> Option<CheckedMut<'_, H::View>> {
        let cown = self.cursor.get(index)?.header_ptr();
        // SAFETY: held exclusively, and borrowed as `self` is.
        Some(unsafe { hold::<H>(cown) })
    }

    /// The states in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Checked<'_, H::View>> {
        // SAFETY: held, and borrowed as `self` is.
        members(self.cursor.clone()).map(|cown| unsafe { read::<H>(cown) })
    }

    /// The states in order, to change them. All may be used at the same time.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = CheckedMut<'_, H::View>> {
        // SAFETY: held exclusively, borrowed as `self` is, distinct, and each given out once.
        members(self.cursor.clone()).map(|cown| unsafe { hold::<H>(cown) })
    }
}

impl<'a, H: AsCown> CheckedReadMembers<'a, H::View, H> {
    /// # Safety
    /// The cowns that the cursor runs over are those of `H`'s, and held at least for reading for `'a`.
    pub(super) unsafe fn new(cursor: Cursor<'a>) -> Self {
        Self { cursor, states: PhantomData, handles: PhantomData }
    }

    /// How many cowns the slice has.
    pub fn len(&self) -> usize {
        self.cursor.len()
    }

    /// Whether the slice is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The state of the cown at a position of the slice, or why it is not sound.
    pub fn get(&self, index: usize) -> Option<Checked<'a, H::View>> {
        let cown = self.cursor.get(index)?.header_ptr();
        // SAFETY: held for reading for `'a`.
        Some(unsafe { read::<H>(cown) })
    }

    /// The states in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Checked<'a, H::View>> + use<'a, H> {
        // SAFETY: held for reading for `'a`.
        members(self.cursor.clone()).map(|cown| unsafe { read::<H>(cown) })
    }
}

impl<T, H> Clone for CheckedReadMembers<'_, T, H> {
    fn clone(&self) -> Self {
        Self { cursor: self.cursor.clone(), states: PhantomData, handles: PhantomData }
    }
}

/// The members of a slice, from first to last.
fn members(cursor: Cursor<'_>) -> impl ExactSizeIterator<Item = NonNull<CownHeader>> {
    (0..cursor.len()).map(move |index| cursor.get(index).expect("below the length").header_ptr())
}

impl<T, H> fmt::Debug for CheckedMembers<'_, T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedMembers").field("len", &self.cursor.len()).finish()
    }
}

impl<T, H> fmt::Debug for CheckedReadMembers<'_, T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedReadMembers").field("len", &self.cursor.len()).finish()
    }
}
