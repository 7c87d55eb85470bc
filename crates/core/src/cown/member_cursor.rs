//! Iterates over the cowns that a behaviour holds, in the order of its set.

use std::marker::PhantomData;

use crate::fault::Broken;
use crate::queue::header::Flags;
use crate::queue::interrupt_header;
use crate::queue::requested_cown::RequestedCown;

/// Iterates over the members of a behaviour, in the order of the set.
#[derive(Clone)]
pub struct MemberCursor<'a> {
    at: *const RequestedCown,
    stride: usize,
    left: usize,
    behaviour: PhantomData<&'a ()>,
}

impl<'a> MemberCursor<'a> {
    /// # Safety
    /// Starting at `first`, there are `left` members, `stride` bytes apart, that stay valid for
    /// `'a`.
    pub(crate) unsafe fn new(first: *const RequestedCown, stride: usize, left: usize) -> Self {
        Self { at: first, stride, left, behaviour: PhantomData }
    }

    #[inline]
    pub(crate) fn single(member: &'a RequestedCown) -> Self {
        Self { at: member, stride: 0, left: 1, behaviour: PhantomData }
    }

    #[inline]
    pub(crate) fn advance(&mut self) -> RequestedCown {
        debug_assert!(self.left > 0);
        // SAFETY: `left` members remain from here on, and it is not zero.
        let member = unsafe { *self.at };
        self.at = self.at.wrapping_byte_add(self.stride);
        self.left -= 1;
        member
    }

    /// The number of remaining members.
    pub(super) fn len(&self) -> usize {
        self.left
    }

    /// Returns the next member.
    pub(super) fn next(&mut self) -> Option<RequestedCown> {
        (self.left > 0).then(|| self.advance())
    }

    /// Returns the last member.
    pub(super) fn next_back(&mut self) -> Option<RequestedCown> {
        let last = self.get(self.left.checked_sub(1)?);
        self.left -= 1;
        last
    }

    /// Splits off the next `len` members.
    pub(crate) fn split(&mut self, len: usize) -> MemberCursor<'a> {
        debug_assert!(len <= self.left);
        let part = MemberCursor { left: len, ..self.clone() };
        self.at = self.at.wrapping_byte_add(self.stride * len);
        self.left -= len;
        part
    }

    /// Returns the member at an index.
    pub(super) fn get(&self, index: usize) -> Option<RequestedCown> {
        let at = self.at.wrapping_byte_add(self.stride * index);
        // SAFETY: `left` members remain from here on, and `index` is below that.
        (index < self.left).then(|| unsafe { *at })
    }

    /// Returns why the behaviour must not run: its first member that is poisoned or closed, and not
    /// named in a form that accepts this.
    #[inline]
    pub(crate) fn find_refusal(&self) -> Option<Broken> {
        let mut members = self.clone();
        for position in 0..self.left {
            let member = members.advance();
            let flags = member.header().flags.get(Flags::POISONED | Flags::CLOSED);
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

    /// Ends the states of interruptible cowns whose runtime is past its deadline. Returns whether
    /// all have ended.
    ///
    /// # Safety
    /// The behaviour holds the members, all exclusively.
    #[cold]
    pub(crate) unsafe fn end_states(&self) -> bool {
        let mut members = self.clone();
        (0..self.left).all(|_| {
            let cown = members.advance().live_cown();
            // SAFETY: the cown is held exclusively, so it is alive and only this behaviour accesses
            // its state.
            unsafe { interrupt_header::end_state(cown) }
        })
    }

    /// Tells every exclusively held cown that the behaviour has panicked: poisons it or, if it is
    /// interruptible, calls its state.
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
            // SAFETY: the cown is held exclusively, so it is alive.
            unsafe {
                let header = member.header();
                if header.has(Flags::INTERRUPTIBLE) {
                    interrupt_header::tell_failure(member.live_cown(), why);
                } else {
                    header.set(Flags::POISONED, true);
                }
            }
        }
    }
}
