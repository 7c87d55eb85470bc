//! What a request asks for, and whether it is placed: no step in progress is before it in its
//! queue.

#[cfg(not(loom))]
use coact_sync::shim::atomic::AtomicPtr;
use coact_sync::shim::atomic::Ordering;

use super::requested_cown::RequestedCown;
use super::slot::{Slot, SlotPlacement};

impl Slot {
    #[inline]
    pub(crate) fn new(member: RequestedCown) -> Self {
        Self::unlinked(SlotPlacement::placed(member))
    }

    /// Creates the request of a single that is about to be put into its queue; see
    /// [`begin`](Self::begin).
    #[inline]
    pub(crate) fn beginning(member: RequestedCown) -> Self {
        Self::unlinked(SlotPlacement::beginning(member))
    }

    /// Returns what the request asks for. The caller is the appender, or has learnt of the request
    /// from the appender after it was placed.
    #[inline]
    pub(crate) fn member(&self) -> RequestedCown {
        // SAFETY: no thread stores any more: the caller is the appender, or has learnt of the
        // request by its link or its grant, both of which come after `end`. (A waiting successor
        // uses only `is_placed`.)
        unsafe { *self.member_ptr() }
    }

    /// Where to read the member while the behaviour holds the cown.
    #[inline]
    pub(crate) fn member_ptr(&self) -> *const RequestedCown {
        self.placement.member_ptr()
    }

    /// Marks the request of a single as about to be put into its queue. Returns what it asks for.
    #[inline]
    pub(crate) fn begin(&mut self) -> RequestedCown {
        self.placement.begin()
    }

    /// Removes that mark: no step in progress is before the request.
    #[inline]
    pub(crate) fn end(&self, member: RequestedCown) {
        self.placement.end(member);
    }

    /// Returns whether a request that is behind this one now stays behind it, and is also behind
    /// every step before it in all queues of that step.
    #[inline]
    pub(crate) fn is_placed(&self) -> bool {
        self.placement.is_placed() && !self.is_stepping()
    }
}

/// In one word: its [`RequestedCown`] can be read in place, and itself says whether it is placed.
#[cfg(not(loom))]
impl SlotPlacement {
    #[inline]
    fn placed(member: RequestedCown) -> Self {
        Self(AtomicPtr::new(member.as_ptr().cast()))
    }

    #[inline]
    fn beginning(member: RequestedCown) -> Self {
        Self(AtomicPtr::new(member.unplaced().as_ptr().cast()))
    }

    #[inline]
    fn member_ptr(&self) -> *const RequestedCown {
        std::ptr::from_ref(self).cast()
    }

    #[inline]
    fn begin(&mut self) -> RequestedCown {
        let word = self.0.get_mut();
        // SAFETY: only members are stored in the word.
        let member = unsafe { RequestedCown::from_ptr(word.cast()) };
        *word = member.unplaced().as_ptr().cast();
        member
    }

    #[inline]
    fn end(&self, member: RequestedCown) {
        // ORDERING: Release pairs with the Acquire in `is_placed`: a step that the appender has
        // waited for is complete for its successor as well.
        self.0.store(member.as_ptr().cast(), Ordering::Release);
    }

    #[inline]
    fn is_placed(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `end`.
        // SAFETY: only members are stored in the word.
        !unsafe { RequestedCown::from_ptr(self.0.load(Ordering::Acquire).cast()) }.is_unplaced()
    }
}

#[cfg(loom)]
impl SlotPlacement {
    fn placed(member: RequestedCown) -> Self {
        Self::new(member, true)
    }

    fn beginning(member: RequestedCown) -> Self {
        Self::new(member, false)
    }

    fn new(member: RequestedCown, is_placed: bool) -> Self {
        let is_placed = coact_sync::shim::atomic::AtomicBool::new(is_placed);
        Self { member: member.as_tagged(), is_placed }
    }

    fn member_ptr(&self) -> *const RequestedCown {
        (&raw const self.member).cast()
    }

    fn begin(&mut self) -> RequestedCown {
        self.is_placed = coact_sync::shim::atomic::AtomicBool::new(false);
        // SAFETY: the pointer is that of the member in this request.
        unsafe { *self.member_ptr() }
    }

    fn end(&self, _: RequestedCown) {
        // ORDERING: Release, as in the one-word version.
        self.is_placed.store(true, Ordering::Release);
    }

    fn is_placed(&self) -> bool {
        // ORDERING: Acquire, as in the one-word version.
        self.is_placed.load(Ordering::Acquire)
    }
}
