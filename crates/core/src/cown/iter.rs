//! Iterators over the states of a slice of cowns.

use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;

use super::member_cursor::MemberCursor;
use super::set::{AsCown, view, view_mut};

/// Iterates over the states of [`Members`](crate::cown::Members) or
/// [`ReadMembers`](crate::cown::ReadMembers), in order.
pub struct MembersIter<'a, T, H> {
    cursor: MemberCursor<'a>,
    states: PhantomData<&'a T>,
    /// Invariant: only `H` determines the type of the states.
    handles: PhantomData<fn(H) -> H>,
}

/// Iterates over the states of [`Members`](crate::cown::Members), in order, mutably. All may be
/// used at the same time.
pub struct MembersIterMut<'a, T, H> {
    cursor: MemberCursor<'a>,
    states: PhantomData<&'a mut T>,
    /// Invariant: only `H` determines the type of the states.
    handles: PhantomData<fn(H) -> H>,
}

// SAFETY: like `slice::Iter`, for views that are created from `&State`.
unsafe impl<H: AsCown<State: Sync, View: Sync>> Send for MembersIter<'_, H::View, H> {}
// SAFETY: like `slice::Iter`, for views that are created from `&State`.
unsafe impl<H: AsCown<State: Sync, View: Sync>> Sync for MembersIter<'_, H::View, H> {}
// SAFETY: like `slice::IterMut`: each state is yielded once. States are `Send`.
unsafe impl<T: Send, H> Send for MembersIterMut<'_, T, H> {}

impl<'a, H: AsCown> MembersIter<'a, H::View, H> {
    /// # Safety
    /// The cowns of the cursor are `H`'s, and their states do not change for `'a`.
    pub(super) unsafe fn new(cursor: MemberCursor<'a>) -> Self {
        Self { cursor, states: PhantomData, handles: PhantomData }
    }
}

impl<'a, H: AsCown> MembersIterMut<'a, H::View, H> {
    /// # Safety
    /// The cowns of the cursor are `H`'s, distinct, held exclusively for `'a`, and accessed only
    /// through this iterator.
    pub(super) unsafe fn new(cursor: MemberCursor<'a>) -> Self {
        Self { cursor, states: PhantomData, handles: PhantomData }
    }
}

impl<'a, H: AsCown> Iterator for MembersIter<'a, H::View, H> {
    type Item = &'a H::View;

    fn next(&mut self) -> Option<Self::Item> {
        // SAFETY: the cown is one of `H`'s, and its state does not change for `'a`.
        self.cursor.next().map(|member| unsafe { view::<H>(member.live_cown()) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.cursor.len(), Some(self.cursor.len()))
    }
}

impl<H: AsCown> DoubleEndedIterator for MembersIter<'_, H::View, H> {
    fn next_back(&mut self) -> Option<Self::Item> {
        // SAFETY: the cown is one of `H`'s, and its state does not change for `'a`.
        self.cursor.next_back().map(|member| unsafe { view::<H>(member.live_cown()) })
    }
}

impl<H: AsCown> ExactSizeIterator for MembersIter<'_, H::View, H> {}
impl<H: AsCown> FusedIterator for MembersIter<'_, H::View, H> {}

impl<T, H> Clone for MembersIter<'_, T, H> {
    fn clone(&self) -> Self {
        Self { cursor: self.cursor.clone(), states: PhantomData, handles: PhantomData }
    }
}

impl<'a, H: AsCown> Iterator for MembersIterMut<'a, H::View, H> {
    type Item = &'a mut H::View;

    fn next(&mut self) -> Option<Self::Item> {
        // SAFETY: the cown is one of `H`'s, held exclusively for `'a`, and yielded once, since the
        // cursor has passed it.
        self.cursor.next().map(|member| unsafe { view_mut::<H>(member.live_cown()) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.cursor.len(), Some(self.cursor.len()))
    }
}

impl<H: AsCown> DoubleEndedIterator for MembersIterMut<'_, H::View, H> {
    fn next_back(&mut self) -> Option<Self::Item> {
        // SAFETY: the cown is one of `H`'s, held exclusively for `'a`, and yielded once, since the
        // cursor has passed it.
        self.cursor.next_back().map(|member| unsafe { view_mut::<H>(member.live_cown()) })
    }
}

impl<H: AsCown> ExactSizeIterator for MembersIterMut<'_, H::View, H> {}
impl<H: AsCown> FusedIterator for MembersIterMut<'_, H::View, H> {}

impl<T, H> fmt::Debug for MembersIter<'_, T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MembersIter").field("left", &self.cursor.len()).finish()
    }
}

impl<T, H> fmt::Debug for MembersIterMut<'_, T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MembersIterMut").field("left", &self.cursor.len()).finish()
    }
}
