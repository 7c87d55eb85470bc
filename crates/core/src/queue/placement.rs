//! What a request is for, and whether it has found its place.

use std::ptr::null_mut;

use coact_sync::shim::atomic::{AtomicPtr, Ordering};

use super::member::Member;
use super::slot::{Placement, Slot};

impl Slot {
    #[inline]
    pub(crate) fn new(member: Member) -> Self {
        Self { next: AtomicPtr::new(null_mut()), placement: Placement::placed(member) }
    }

    /// A request of its own that is about to be put into its queue, as [`begin`](Self::begin) says.
    #[inline]
    pub(crate) fn beginning(member: Member) -> Self {
        Self { next: AtomicPtr::new(null_mut()), placement: Placement::beginning(member) }
    }

    /// What the request is for. The caller has learnt of the request from its appender, after it was placed, or is
    /// the appender.
    #[inline]
    pub(crate) fn member(&self) -> Member {
        // SAFETY: nobody stores any more: the caller is the appender, or has learnt of the request by its link or by its
        // grant, which come after `end`. (A successor that waits asks for `is_placed` only.)
        unsafe { *self.member_ptr() }
    }

    /// Where that can be read, while the behaviour holds the cown.
    #[inline]
    pub(crate) fn member_ptr(&self) -> *const Member {
        self.placement.member_ptr()
    }

    /// Says that a request of its own is about to be put into its queue. Returns what it is for.
    #[inline]
    pub(crate) fn begin(&mut self) -> Member {
        self.placement.begin()
    }

    /// Says that such a request has its place: no step that is not through stands before it.
    #[inline]
    pub(crate) fn end(&self, member: Member) {
        self.placement.end(member);
    }

    /// Whether whoever comes behind the request now comes behind it for good, and behind each step before it on all of
    /// that one's queues.
    #[inline]
    pub(crate) fn is_placed(&self) -> bool {
        // ORDERING: Acquire pairs with the release in `end_step`: what the caller does next comes after all exchanges
        // of that step.
        self.placement.is_placed() && self.next.load(Ordering::Acquire) != Self::STEPPING
    }
}

/// In one word: a [`Member`] in it can be read in place, and says itself whether it is placed.
#[cfg(not(loom))]
impl Placement {
    #[inline]
    fn placed(member: Member) -> Self {
        Self(AtomicPtr::new(member.as_ptr().cast()))
    }

    #[inline]
    fn beginning(member: Member) -> Self {
        Self(AtomicPtr::new(member.unplaced().as_ptr().cast()))
    }

    #[inline]
    fn member_ptr(&self) -> *const Member {
        std::ptr::from_ref(self).cast()
    }

    #[inline]
    fn begin(&mut self) -> Member {
        let word = self.0.get_mut();
        // SAFETY: only members are stored.
        let member = unsafe { Member::from_ptr(word.cast()) };
        *word = member.unplaced().as_ptr().cast();
        member
    }

    #[inline]
    fn end(&self, member: Member) {
        // ORDERING: Release pairs with the acquire in `is_placed`: a step that the appender has waited for is
        // through for its successor, too.
        self.0.store(member.as_ptr().cast(), Ordering::Release);
    }

    #[inline]
    fn is_placed(&self) -> bool {
        // ORDERING: Acquire pairs with the release in `end`.
        // SAFETY: only members are stored.
        !unsafe { Member::from_ptr(self.0.load(Ordering::Acquire).cast()) }.is_unplaced()
    }
}

#[cfg(loom)]
impl Placement {
    fn placed(member: Member) -> Self {
        Self::new(member, true)
    }

    fn beginning(member: Member) -> Self {
        Self::new(member, false)
    }

    fn new(member: Member, is_placed: bool) -> Self {
        let is_placed = coact_sync::shim::atomic::AtomicBool::new(is_placed);
        Self { member: member.as_tagged(), is_placed }
    }

    fn member_ptr(&self) -> *const Member {
        (&raw const self.member).cast()
    }

    fn begin(&mut self) -> Member {
        self.is_placed = coact_sync::shim::atomic::AtomicBool::new(false);
        // SAFETY: what lies there is a member.
        unsafe { *self.member_ptr() }
    }

    fn end(&self, _: Member) {
        // ORDERING: Release, as in one word.
        self.is_placed.store(true, Ordering::Release);
    }

    fn is_placed(&self) -> bool {
        // ORDERING: Acquire, as in one word.
        self.is_placed.load(Ordering::Acquire)
    }
}
