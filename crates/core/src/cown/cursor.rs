//! Going over the cowns that a behaviour holds, in the order in which its set named them.

use std::marker::PhantomData;

use crate::fault::Broken;
use crate::queue::header::Flags;
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
