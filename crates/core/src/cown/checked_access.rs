//! Members of sets that may be poisoned or closed: what the closure receives for each.

use std::fmt;
use std::marker::PhantomData;

use super::access_guards::Poisoned;
use super::handle::Cown;
use super::member_cursor::MemberCursor;
use super::set::{AsCown, view, view_mut};
use crate::queue::header::Flags;
use crate::queue::live_cown::LiveCown;

/// The state of a poisoned cown, for a member of a set that is [read
/// checked](crate::cown::Read::checked). To clear the mark, name the cown exclusively
/// ([`checked`](crate::Cown::checked)).
pub struct PoisonedRead<'a, T>(&'a T);

impl<'a, T> PoisonedRead<'a, T> {
    pub(crate) fn new(state: &'a T) -> Self {
        Self(state)
    }

    /// Returns the state as the panic left it.
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

/// The reason why a member of a checked slice ([`checked_all`](crate::cown::checked_all),
/// [`ReadAll::checked`](crate::cown::ReadAll::checked)) has no sound state. `P` gives access to a
/// poisoned one: [`Poisoned`] or [`PoisonedRead`].
#[derive(Debug)]
#[non_exhaustive]
pub enum MemberError<P> {
    /// A behaviour panicked while it held the cown.
    Poisoned(P),
    /// The cown is closed: its state has ended, like that of a stopped actor.
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

/// Has no source: a `Poisoned` borrows the cown, and sources borrow nothing.
impl<P: std::error::Error> std::error::Error for MemberError<P> {}

/// Exclusive access to the states of a slice of cowns, some of which may be poisoned or closed; see
/// [`checked_all`](crate::cown::checked_all).
pub struct CheckedMembers<'a, T, H = Cown<T>> {
    cursor: MemberCursor<'a>,
    states: PhantomData<&'a mut T>,
    /// Invariant: only `H` determines the type of the states.
    handles: PhantomData<fn(H) -> H>,
}

/// Read access to the states of a slice of cowns, some of which may be poisoned or closed; see
/// [`ReadAll::checked`](crate::cown::ReadAll::checked).
pub struct CheckedReadMembers<'a, T, H = Cown<T>> {
    cursor: MemberCursor<'a>,
    states: PhantomData<&'a T>,
    /// Invariant: only `H` determines the type of the states.
    handles: PhantomData<fn(H) -> H>,
}

// SAFETY: like `Vec<Result<&mut T, _>>`, as with `Members`.
unsafe impl<T: Send, H> Send for CheckedMembers<'_, T, H> {}
// SAFETY: `&CheckedMembers` gives access only to `&View`, and to the `&State` from which views are
// created.
unsafe impl<H: AsCown<State: Sync, View: Sync>> Sync for CheckedMembers<'_, H::View, H> {}
// SAFETY: like `Vec<Result<&T, _>>`. (The states are `Sync`, or this could not be created.)
unsafe impl<T: Sync, H> Send for CheckedReadMembers<'_, T, H> {}
// SAFETY: like `Vec<Result<&T, _>>`. (The states are `Sync`, or this could not be created.)
unsafe impl<T: Sync, H> Sync for CheckedReadMembers<'_, T, H> {}

/// What a checked member is when read.
type CheckedRef<'a, T> = Result<&'a T, MemberError<PoisonedRead<'a, T>>>;
/// What a checked member is when held exclusively.
type CheckedMut<'a, T> = Result<&'a mut T, MemberError<Poisoned<'a, T>>>;

/// Returns whether the state of the handle's cown has ended for this kind of behaviour.
fn is_closed<H: AsCown>(cown: LiveCown) -> bool {
    !H::UNCHECKED && cown.header().has(Flags::CLOSED)
}

/// # Safety
/// The cown is one of `H`'s, and its state does not change for `'a`.
unsafe fn read<'a, H: AsCown>(cown: LiveCown) -> CheckedRef<'a, H::View> {
    // SAFETY: the cown is one of `H`'s, alive, and its state does not change for `'a`.
    unsafe {
        if is_closed::<H>(cown) {
            return Err(MemberError::Closed);
        }
        let state = view::<H>(cown);
        if cown.header().is_poisoned() {
            return Err(MemberError::Poisoned(PoisonedRead::new(state)));
        }
        Ok(state)
    }
}

/// # Safety
/// The cown is one of `H`'s and held exclusively for `'a`, and there is no other reference to its
/// state.
unsafe fn hold<'a, H: AsCown>(cown: LiveCown) -> CheckedMut<'a, H::View> {
    // SAFETY: the cown is one of `H`'s and held exclusively for `'a`, without another reference to
    // its state.
    unsafe {
        if is_closed::<H>(cown) {
            return Err(MemberError::Closed);
        }
        if cown.header().is_poisoned() {
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
    cown: LiveCown,
) -> Result<&'a H::View, PoisonedRead<'a, H::View>> {
    // SAFETY: the cown is one of `H`'s, and held for reading for `'a`.
    unsafe {
        let state = view::<H>(cown);
        if cown.header().is_poisoned() { Err(PoisonedRead::new(state)) } else { Ok(state) }
    }
}

impl<'a, H: AsCown> CheckedMembers<'a, H::View, H> {
    /// # Safety
    /// The cowns of the cursor are `H`'s, distinct, and held exclusively for `'a`.
    pub(super) unsafe fn new(cursor: MemberCursor<'a>) -> Self {
        Self { cursor, states: PhantomData, handles: PhantomData }
    }

    /// Returns the length of the slice.
    pub fn len(&self) -> usize {
        self.cursor.len()
    }

    /// Returns whether the slice is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the state of the cown at an index, or why it is not sound.
    pub fn get(&self, index: usize) -> Option<CheckedRef<'_, H::View>> {
        let cown = self.cursor.get(index)?.live_cown();
        // SAFETY: the cown is held, and its state borrowed as long as `self`.
        Some(unsafe { read::<H>(cown) })
    }

    /// Returns the state of the cown at an index mutably, or why it is not sound.
    pub fn get_mut(&mut self, index: usize) -> Option<CheckedMut<'_, H::View>> {
        let cown = self.cursor.get(index)?.live_cown();
        // SAFETY: the cown is held exclusively, and its state borrowed mutably as long as `self`.
        Some(unsafe { hold::<H>(cown) })
    }

    /// Iterates over the states in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = CheckedRef<'_, H::View>> {
        // SAFETY: the cowns are held, and their states borrowed as long as `self`.
        members(self.cursor.clone()).map(|cown| unsafe { read::<H>(cown) })
    }

    /// Iterates over the states in order, mutably. All may be used at the same time.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = CheckedMut<'_, H::View>> {
        // SAFETY: the cowns are held exclusively and distinct, each is yielded once, and their
        // states are borrowed mutably as long as `self`.
        members(self.cursor.clone()).map(|cown| unsafe { hold::<H>(cown) })
    }
}

impl<'a, H: AsCown> CheckedReadMembers<'a, H::View, H> {
    /// # Safety
    /// The cowns of the cursor are `H`'s, and held at least for reading for `'a`.
    pub(super) unsafe fn new(cursor: MemberCursor<'a>) -> Self {
        Self { cursor, states: PhantomData, handles: PhantomData }
    }

    /// Returns the length of the slice.
    pub fn len(&self) -> usize {
        self.cursor.len()
    }

    /// Returns whether the slice is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the state of the cown at an index, or why it is not sound.
    pub fn get(&self, index: usize) -> Option<CheckedRef<'a, H::View>> {
        let cown = self.cursor.get(index)?.live_cown();
        // SAFETY: the cowns are held for reading for `'a`.
        Some(unsafe { read::<H>(cown) })
    }

    /// Iterates over the states in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = CheckedRef<'a, H::View>> + use<'a, H> {
        // SAFETY: the cowns are held for reading for `'a`.
        members(self.cursor.clone()).map(|cown| unsafe { read::<H>(cown) })
    }
}

impl<T, H> Clone for CheckedReadMembers<'_, T, H> {
    fn clone(&self) -> Self {
        Self { cursor: self.cursor.clone(), states: PhantomData, handles: PhantomData }
    }
}

/// The members of a slice, from first to last.
fn members(cursor: MemberCursor<'_>) -> impl ExactSizeIterator<Item = LiveCown> {
    (0..cursor.len()).map(move |index| cursor.get(index).expect("below the length").live_cown())
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
