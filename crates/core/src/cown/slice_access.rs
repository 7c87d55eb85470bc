//! What a behaviour's closure receives for a slice of cowns.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use super::handle::{Cown, OfState};
use super::iter::{MembersIter, MembersIterMut};
use super::member_cursor::MemberCursor;
use super::set::{AsCown, view, view_mut};

// Both are invariant in `H`, since only `H` determines the type of the states: another handle type
// with the same view may have other states.

/// Exclusive access to the states of a slice of cowns, in the slice's order.
///
/// It is not a slice, but has what one mostly needs: `members[i]`, [`get`](Self::get),
/// [`get_mut`](Self::get_mut), [`len`](Self::len), [`iter`](Self::iter) and
/// [`iter_mut`](Self::iter_mut), and `for` loops. For all else a slice has, such as `swap`, `sort`
/// or `split_at_mut`, collect the references: `members.into_iter().collect::<Vec<&mut T>>()`.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call, when};
/// use coact::cown::Members;
///
/// fn level(mut tanks: Members<'_, u32>) {
///     let mean = tanks.iter().sum::<u32>() / tanks.len() as u32;
///     tanks.iter_mut().for_each(|tank| *tank = mean);
/// }
///
/// let tanks: Vec<Cown<u32>> = [1, 5, 9].map(Cown::new).into();
/// when(&tanks, level);
/// when(&tanks[1..], |mut last_two| last_two[0] += 1);
/// assert_eq!(call(&tanks[1], |tank| *tank).wait(), Ok(6));
/// ```
pub struct Members<'a, T, H = Cown<T>> {
    cursor: MemberCursor<'a>,
    states: PhantomData<&'a mut T>,
    handles: PhantomData<OfState<H>>,
}

/// Read access to the states of a slice of cowns, in the slice's order.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call};
/// use coact::cown::{ReadMembers, read_all};
///
/// fn sum(tanks: ReadMembers<'_, u32>) -> u32 {
///     tanks.iter().sum()
/// }
///
/// let tanks: Vec<Cown<u32>> = [1, 5, 9].map(Cown::new).into();
/// let (all, most) = (call(read_all(&tanks), sum), call(read_all(&tanks[1..]), sum));
/// assert_eq!((all.wait(), most.wait()), (Ok(15), Ok(14)), "readers run in parallel");
/// ```
pub struct ReadMembers<'a, T, H = Cown<T>> {
    cursor: MemberCursor<'a>,
    states: PhantomData<&'a T>,
    handles: PhantomData<OfState<H>>,
}

// SAFETY: `Members` acts like `Vec<&mut T>`: it gives out each state at most once at a time, to the
// thread that owns it.
unsafe impl<T: Send, H> Send for Members<'_, T, H> {}
// SAFETY: `&Members` gives access only to `&View`, and to the `&State` from which views are
// created.
unsafe impl<H: AsCown<State: Sync, View: Sync>> Sync for Members<'_, H::View, H> {}
// SAFETY: like `Vec<&T>`. (The states are `Sync`, or this could not be created.)
unsafe impl<T: Sync, H> Send for ReadMembers<'_, T, H> {}
// SAFETY: like `Vec<&T>`.
unsafe impl<T: Sync, H> Sync for ReadMembers<'_, T, H> {}

impl<'a, H: AsCown> Members<'a, H::View, H> {
    /// # Safety
    /// The cowns of the cursor are `H`'s, distinct, and held exclusively for `'a`.
    pub(crate) unsafe fn new(cursor: MemberCursor<'a>) -> Self {
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

    /// Returns the state of the cown at an index.
    pub fn get(&self, index: usize) -> Option<&H::View> {
        let cown = self.cursor.get(index)?.live_cown();
        // SAFETY: the cown is held, and its state borrowed as long as `self`.
        Some(unsafe { view::<H>(cown) })
    }

    /// Returns the state of the cown at an index mutably.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut H::View> {
        let cown = self.cursor.get(index)?.live_cown();
        // SAFETY: the cown is held exclusively, and its state borrowed mutably as long as `self`.
        Some(unsafe { view_mut::<H>(cown) })
    }

    /// Iterates over the states in order.
    pub fn iter(&self) -> MembersIter<'_, H::View, H> {
        // SAFETY: the cowns are `H`'s and held, and their states borrowed as long as `self`.
        unsafe { MembersIter::new(self.cursor.clone()) }
    }

    /// Iterates over the states in order, mutably. All may be used at the same time.
    pub fn iter_mut(&mut self) -> MembersIterMut<'_, H::View, H> {
        // SAFETY: the cowns are `H`'s, distinct, and held exclusively; their states are borrowed
        // mutably as long as `self`.
        unsafe { MembersIterMut::new(self.cursor.clone()) }
    }
}

impl<'a, H: AsCown> IntoIterator for Members<'a, H::View, H> {
    type Item = &'a mut H::View;
    type IntoIter = MembersIterMut<'a, H::View, H>;

    fn into_iter(self) -> Self::IntoIter {
        // SAFETY: the cowns are `H`'s, distinct, and held exclusively for `'a`; `self`, which gave
        // access to them, is consumed.
        unsafe { MembersIterMut::new(self.cursor) }
    }
}

impl<'m, H: AsCown> IntoIterator for &'m mut Members<'_, H::View, H> {
    type Item = &'m mut H::View;
    type IntoIter = MembersIterMut<'m, H::View, H>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<'m, H: AsCown> IntoIterator for &'m Members<'_, H::View, H> {
    type Item = &'m H::View;
    type IntoIter = MembersIter<'m, H::View, H>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, H: AsCown> IntoIterator for ReadMembers<'a, H::View, H> {
    type Item = &'a H::View;
    type IntoIter = MembersIter<'a, H::View, H>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, H: AsCown> IntoIterator for &ReadMembers<'a, H::View, H> {
    type Item = &'a H::View;
    type IntoIter = MembersIter<'a, H::View, H>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<H: AsCown> Index<usize> for Members<'_, H::View, H> {
    type Output = H::View;
    fn index(&self, index: usize) -> &H::View {
        self.get(index).unwrap_or_else(|| out_of_range(index, self.len()))
    }
}

impl<H: AsCown> IndexMut<usize> for Members<'_, H::View, H> {
    fn index_mut(&mut self, index: usize) -> &mut H::View {
        let len = self.len();
        self.get_mut(index).unwrap_or_else(|| out_of_range(index, len))
    }
}

impl<T, H> Clone for ReadMembers<'_, T, H> {
    fn clone(&self) -> Self {
        Self { cursor: self.cursor.clone(), states: PhantomData, handles: PhantomData }
    }
}

impl<'a, H: AsCown> ReadMembers<'a, H::View, H> {
    /// # Safety
    /// The cowns of the cursor are `H`'s, and held at least for reading for `'a`.
    pub(crate) unsafe fn new(cursor: MemberCursor<'a>) -> Self {
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

    /// Returns the state of the cown at an index.
    pub fn get(&self, index: usize) -> Option<&'a H::View> {
        let cown = self.cursor.get(index)?.live_cown();
        // SAFETY: the cowns are held for reading for `'a`.
        Some(unsafe { view::<H>(cown) })
    }

    /// Iterates over the states in order.
    pub fn iter(&self) -> MembersIter<'a, H::View, H> {
        // SAFETY: the cowns are `H`'s, and held for reading for `'a`.
        unsafe { MembersIter::new(self.cursor.clone()) }
    }
}

impl<H: AsCown> Index<usize> for ReadMembers<'_, H::View, H> {
    type Output = H::View;
    fn index(&self, index: usize) -> &H::View {
        self.get(index).unwrap_or_else(|| out_of_range(index, self.len()))
    }
}

#[cold]
pub(super) fn out_of_range(index: usize, len: usize) -> ! {
    panic!("index {index} is out of range for a slice of {len} cowns")
}
