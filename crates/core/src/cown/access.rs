//! What a behaviour's closure gets for each member of its set.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};
use std::ptr::NonNull;

use super::handle::{Cown, OfState};
use super::iter::{MembersIter, MembersIterMut};
use super::layout::CownBox;
use super::set::{AsCown, view, view_mut};
use crate::fault::Broken;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::interruptible;
use crate::queue::member::Member;

/// Runs over the members of a behaviour, in the order in which the set named them.
#[derive(Clone)]
pub struct Cursor<'a> {
    at: *const Member,
    stride: usize,
    left: usize,
    behaviour: PhantomData<&'a ()>,
}

impl<'a> Cursor<'a> {
    /// # Safety
    /// From `first` on, `left` members lie `stride` bytes apart, and stay for `'a`.
    pub(crate) unsafe fn new(first: *const Member, stride: usize, left: usize) -> Self {
        Self { at: first, stride, left, behaviour: PhantomData }
    }

    #[inline]
    pub(crate) fn single(member: &'a Member) -> Self {
        Self { at: member, stride: 0, left: 1, behaviour: PhantomData }
    }

    #[inline]
    pub(crate) fn advance(&mut self) -> Member {
        debug_assert!(self.left > 0);
        // SAFETY: `left` members lie from here on.
        let member = unsafe { *self.at };
        self.at = self.at.wrapping_byte_add(self.stride);
        self.left -= 1;
        member
    }

    /// How many members are left.
    pub(super) fn len(&self) -> usize {
        self.left
    }

    /// The next member.
    pub(super) fn next(&mut self) -> Option<Member> {
        (self.left > 0).then(|| self.advance())
    }

    /// The last member.
    pub(super) fn next_back(&mut self) -> Option<Member> {
        let last = self.get(self.left.checked_sub(1)?);
        self.left -= 1;
        last
    }

    /// Splits off the next `len` members.
    pub(crate) fn split(&mut self, len: usize) -> Cursor<'a> {
        debug_assert!(len <= self.left);
        let part = Cursor { left: len, ..self.clone() };
        self.at = self.at.wrapping_byte_add(self.stride * len);
        self.left -= len;
        part
    }

    /// The member at a position.
    pub(super) fn get(&self, index: usize) -> Option<Member> {
        let at = self.at.wrapping_byte_add(self.stride * index);
        // SAFETY: `left` members lie from here on.
        (index < self.left).then(|| unsafe { *at })
    }

    /// Why the behaviour must not run: its first member that is poisoned, or closed, and was not
    /// named as one that may be.
    ///
    /// # Safety
    /// The behaviour holds the members.
    #[inline]
    pub(crate) unsafe fn find_refusal(&self) -> Option<Broken> {
        let mut members = self.clone();
        for position in 0..self.left {
            let member = members.advance();
            // SAFETY: held, so alive.
            let flags = unsafe { member.header() }.flags.get(Flags::POISONED | Flags::CLOSED);
            if flags != 0 && !member.is_checked() {
                return Some(if flags & Flags::CLOSED != 0 {
                    Broken::Closed { position }
                } else {
                    Broken::Poisoned { position }
                });
            }
        }
        None
    }

    /// Has the states of the cowns end, which are interrupted, since their runtime is past its deadline. Returns whether
    /// they have.
    ///
    /// # Safety
    /// The behaviour holds the members, all exclusively.
    #[cold]
    pub(crate) unsafe fn end_states(&self) -> bool {
        let mut members = self.clone();
        (0..self.left).all(|_| {
            let cown = members.advance().header_ptr();
            // SAFETY: held exclusively, so alive, and its state the behaviour's alone.
            unsafe { interruptible::end_state(cown) }
        })
    }

    /// Says to every cown that is held exclusively that the behaviour has panicked: it is poisoned,
    /// or, if it is interrupted, told.
    ///
    /// # Safety
    /// The behaviour holds the members.
    #[cold]
    pub(crate) unsafe fn fail(&self, why: &Broken) {
        let mut members = self.clone();
        for _ in 0..self.left {
            let member = members.advance();
            if member.is_read() {
                continue;
            }
            // SAFETY: held exclusively, so alive.
            unsafe {
                let header = member.header();
                if header.has(Flags::INTERRUPTIBLE) {
                    interruptible::tell_failure(member.header_ptr(), why);
                } else {
                    header.set(Flags::POISONED, true);
                }
            }
        }
    }
}

/// The state of a cown that a panic has poisoned, as a [`checked`](crate::Cown::checked) member of a
/// set gets it.
///
/// The state may be half changed. Look at it or put it right through [`get_mut`](Self::get_mut),
/// then [`clear`](Self::clear) the mark. A cown that is not cleared stays poisoned.
pub struct Poisoned<'a, T> {
    header: &'a CownHeader,
    state: &'a mut T,
}

impl<'a, T> Poisoned<'a, T> {
    /// # Safety
    /// The caller holds the cown exclusively for `'a`.
    pub(crate) unsafe fn new(cown: NonNull<CownHeader>) -> Self {
        // SAFETY: held for `'a`, and `T` is the type of its state.
        unsafe { Self { header: cown.as_ref(), state: &mut *CownBox::<T>::state(cown) } }
    }

    /// The same with the view that a handle shows of the state.
    ///
    /// # Safety
    /// The cown is one of `H`'s, and the caller holds it exclusively for `'a`.
    pub(super) unsafe fn of_view<H: AsCown<View = T>>(cown: NonNull<CownHeader>) -> Self {
        // SAFETY: held for `'a`, and one of `H`'s.
        unsafe { Self { header: cown.as_ref(), state: view_mut::<H>(cown) } }
    }

    /// The state as the panic left it.
    pub fn get_ref(&self) -> &T {
        self.state
    }

    /// The state as the panic left it, to be put right.
    pub fn get_mut(&mut self) -> &mut T {
        self.state
    }

    /// Says that the state is sound again, and gives it out.
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

/// A cown that a behaviour was given by value: exclusive access to its state, and the handle.
///
/// For chains of behaviours (a token that is passed on, a philosopher's next meal) and for those
/// that want to pass on their own address: the handle travels with the behaviour, and is neither
/// cloned nor counted.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, ask, when};
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
/// assert_eq!(ask(&n, |n| *n).wait(), Ok(0));
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

    /// The cown.
    pub fn cown(&self) -> &Cown<T> {
        &self.cown
    }

    /// Gives the handle out, and the state up.
    #[inline]
    pub fn into_cown(self) -> Cown<T> {
        self.cown
    }

    /// The state and the handle, each for itself.
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

// Both are invariant in `H`, which alone tells of what type the states are: another handle that shows the same view
// may be one of other states.

/// Exclusive access to the states of a slice of cowns, in the slice's order.
///
/// It is used like a slice of `&mut T`: by index, with [`iter`](Self::iter) and [`iter_mut`](Self::iter_mut), or
/// in a `for` loop.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, ask, when};
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
/// assert_eq!(ask(&tanks[1], |tank| *tank).wait(), Ok(6));
/// ```
pub struct Members<'a, T, H = Cown<T>> {
    cursor: Cursor<'a>,
    states: PhantomData<&'a mut T>,
    handles: PhantomData<OfState<H>>,
}

/// Read access to the states of a slice of cowns, in the slice's order.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, ask};
/// use coact::cown::{ReadMembers, read_all};
///
/// fn sum(tanks: ReadMembers<'_, u32>) -> u32 {
///     tanks.iter().sum()
/// }
///
/// let tanks: Vec<Cown<u32>> = [1, 5, 9].map(Cown::new).into();
/// let (all, most) = (ask(read_all(&tanks), sum), ask(read_all(&tanks[1..]), sum));
/// assert_eq!((all.wait(), most.wait()), (Ok(15), Ok(14)), "readers run in parallel");
/// ```
pub struct ReadMembers<'a, T, H = Cown<T>> {
    cursor: Cursor<'a>,
    states: PhantomData<&'a T>,
    handles: PhantomData<OfState<H>>,
}

// SAFETY: `Members` is used like `Vec<&mut T>`: it gives out each state at most once at a time, to
// the thread that has it.
unsafe impl<T: Send, H> Send for Members<'_, T, H> {}
// SAFETY: through `&Members` only `&View` can be reached, and `&State`, of which views are made.
unsafe impl<H: AsCown<State: Sync, View: Sync>> Sync for Members<'_, H::View, H> {}
// SAFETY: like `Vec<&T>`. (The states are `Sync`, or there would be none.)
unsafe impl<T: Sync, H> Send for ReadMembers<'_, T, H> {}
// SAFETY: like `Vec<&T>`.
unsafe impl<T: Sync, H> Sync for ReadMembers<'_, T, H> {}

impl<'a, H: AsCown> Members<'a, H::View, H> {
    /// # Safety
    /// The cowns that the cursor runs over are those of `H`'s, distinct, and held exclusively for `'a`.
    pub(crate) unsafe fn new(cursor: Cursor<'a>) -> Self {
        Self { cursor, states: PhantomData, handles: PhantomData }
    }

    /// How many cowns the slice has.
    pub fn len(&self) -> usize {
        self.cursor.left
    }

    /// Whether the slice is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The state of the cown at a position of the slice.
    pub fn get(&self, index: usize) -> Option<&H::View> {
        let cown = self.cursor.get(index)?.header_ptr();
        // SAFETY: held, and borrowed as `self` is.
        Some(unsafe { view::<H>(cown) })
    }

    /// The state of the cown at a position of the slice, to change it.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut H::View> {
        let cown = self.cursor.get(index)?.header_ptr();
        // SAFETY: held exclusively, and borrowed as `self` is.
        Some(unsafe { view_mut::<H>(cown) })
    }

    /// The states in order.
    pub fn iter(&self) -> MembersIter<'_, H::View, H> {
        // SAFETY: those of the cursor are `H`'s, and held; `self` is borrowed meanwhile.
        unsafe { MembersIter::new(self.cursor.clone()) }
    }

    /// The states in order, to change them. All may be used at the same time.
    pub fn iter_mut(&mut self) -> MembersIterMut<'_, H::View, H> {
        // SAFETY: those of the cursor are `H`'s, distinct, and held exclusively; `self` is borrowed
        // mutably meanwhile.
        unsafe { MembersIterMut::new(self.cursor.clone()) }
    }
}

impl<'a, H: AsCown> IntoIterator for Members<'a, H::View, H> {
    type Item = &'a mut H::View;
    type IntoIter = MembersIterMut<'a, H::View, H>;

    fn into_iter(self) -> Self::IntoIter {
        // SAFETY: those of the cursor are `H`'s, distinct, and held exclusively for `'a`; `self`, which
        // gave access to them, is gone.
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
    /// The cowns that the cursor runs over are those of `H`'s, and held at least for reading for `'a`.
    pub(crate) unsafe fn new(cursor: Cursor<'a>) -> Self {
        Self { cursor, states: PhantomData, handles: PhantomData }
    }

    /// How many cowns the slice has.
    pub fn len(&self) -> usize {
        self.cursor.left
    }

    /// Whether the slice is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The state of the cown at a position of the slice.
    pub fn get(&self, index: usize) -> Option<&'a H::View> {
        let cown = self.cursor.get(index)?.header_ptr();
        // SAFETY: held for reading for `'a`.
        Some(unsafe { view::<H>(cown) })
    }

    /// The states in order.
    pub fn iter(&self) -> MembersIter<'a, H::View, H> {
        // SAFETY: those of the cursor are `H`'s, and held for `'a`.
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
    panic!("position {index} of a slice of {len} cowns")
}
