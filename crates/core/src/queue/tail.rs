//! The end of a cown's queue: how requests get in, how the last one gets out, and what says that
//! none follows. See README.md, "Append", "Release" and "The end of a cown".

use std::ptr::{NonNull, null_mut};

use coact_sync::shim::atomic::{AtomicEnd, AtomicPtr, Ordering};

use super::slot::Slot;
use crate::queue::live_slot::LiveSlot;

/// The last request of a cown's queue: null if there is none, and a mark if there never will be
/// another one.
///
/// ORDERING: it is changed only by read-modify-writes, so each continues the release sequence of
/// those before it, and an Acquire of one acquires all of them. Three things are passed on through
/// this word:
///
/// * *the request*, from the thread that puts it into the queue to the one that gets behind it and
///   dereferences it: Release and Acquire in `append` and `try_claim`;
/// * *the state*, from the holder that leaves the queue empty to the thread that next finds it so:
///   Release in `try_leave`, Acquire in `append`, `try_claim`, `end_with` and `is_empty`;
/// * *that everything is linked*, from the last handle to the request that finds its mark: Release
///   in `end_with`, Acquire in `try_leave` (if it fails) and `look`.
#[repr(transparent)]
pub(crate) struct Tail(AtomicPtr<Slot>);

/// What a thread has seen there, with Acquire.
#[derive(Clone, Copy)]
pub(crate) struct SeenTail(*mut Slot);

/// What replaces the last request of a queue that nothing can follow: a pointer, marked by a bit
/// that no request's has, since these are aligned.
#[derive(Clone, Copy)]
pub(crate) struct EndMark(*mut Slot);

/// A request whose successor only this thread can set, and that is live until it has: the thread
/// has taken it out of the tail, or has not queued it yet.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Predecessor(LiveSlot);

impl Predecessor {
    /// That of a request which is not queued.
    ///
    /// # Safety
    /// The request is in no queue, and the caller's own.
    #[inline(always)]
    pub(super) unsafe fn unqueued(slot: LiveSlot) -> Self {
        Self(slot)
    }

    /// Returns whether what gets behind it stays there; see [`Slot::is_placed`].
    #[inline(always)]
    pub(super) fn is_placed(self) -> bool {
        self.0.slot().is_placed()
    }

    /// Lets its holder find its successor. Comes last: then it may be gone.
    ///
    /// # Safety
    /// `next` is the request that has taken its place at the end of the queue, or will follow it
    /// there. It has not been linked yet, and neither this nor a copy is used afterwards.
    #[inline(always)]
    pub(super) unsafe fn link(self, next: LiveSlot) {
        self.0.slot().link(next.ptr());
    }
}

impl Tail {
    #[inline]
    pub(super) fn empty() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// The cown is unreachable from here on; a model checks that.
    #[inline]
    pub(super) fn end(&mut self) {
        self.0.end();
    }

    /// Puts the first request into the queue of a cown that no other thread knows.
    ///
    /// # Safety
    /// The request is in no queue, and the caller's own. It is live until it has left this queue,
    /// and its successor, if it has one, is linked.
    pub(crate) unsafe fn begin_with(&self, slot: LiveSlot) {
        // ORDERING: Relaxed. The cown's first handle publishes this.
        self.0.store(slot.as_ptr(), Ordering::Relaxed);
    }

    /// Puts a request into the queue. Returns its predecessor; without one, the caller has the
    /// token.
    ///
    /// # Safety
    /// See [`begin_with`](Self::begin_with). The queue has not ended: the cown has a handle, or
    /// this is the request that ends it.
    #[inline(always)]
    pub(super) unsafe fn append(&self, slot: LiveSlot) -> Option<Predecessor> {
        // ORDERING: AcqRel. Release publishes the request to its successor, which does the same.
        // Acquire pairs with the Release of the predecessor's exchange, and if there is none with
        // that in `try_leave`: the state that the last holder wrote.
        let previous = NonNull::new(self.0.swap(slot.as_ptr(), Ordering::AcqRel));
        // SAFETY: what is taken out of the tail is no mark, as this function requires, and a
        // request is live until its successor is linked, as its own appender promised.
        previous.map(|previous| Predecessor(unsafe { LiveSlot::new(previous) }))
    }

    /// Puts a request into the queue if that is empty: the caller then has the token.
    ///
    /// # Safety
    /// See [`begin_with`](Self::begin_with).
    #[inline(always)]
    pub(super) unsafe fn try_claim(&self, slot: LiveSlot) -> bool {
        // ORDERING: AcqRel, as in `append`, which this replaces. Relaxed on failure: nothing is
        // read.
        let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
        self.0.compare_exchange(null_mut(), slot.as_ptr(), ok, failed).is_ok()
    }

    /// Empties the queue if the head is its last request and no mark has replaced it: the token
    /// ends. Otherwise returns what is there. Only for the token holder.
    #[inline(always)]
    pub(super) fn try_leave(&self, head: LiveSlot) -> Result<(), SeenTail> {
        // ORDERING: Release publishes the state that this holder wrote to the next thread that
        // finds the queue empty (Acquire in `append`, `try_claim`, `end_with` and `is_empty`).
        // Acquire on failure pairs with the Release in `end_with`: all links are in place.
        let (ok, failed) = (Ordering::Release, Ordering::Acquire);
        self.0.compare_exchange(head.as_ptr(), null_mut(), ok, failed).map(drop).map_err(SeenTail)
    }

    /// The same with a look before, which saves a futile exchange where the cown ends.
    #[inline(always)]
    pub(super) fn look_and_leave(&self, head: LiveSlot) -> Result<(), SeenTail> {
        let seen = self.look();
        if seen.is(head) { self.try_leave(head) } else { Err(seen) }
    }

    /// Puts the mark into the queue, behind what is there. Returns whether it was empty: the caller
    /// then has the token. The cown has no handle any more.
    #[must_use = "the caller may have the token now"]
    #[inline]
    pub(crate) fn end_with(&self, mark: EndMark) -> bool {
        // ORDERING: AcqRel. Release: what was appended through the handles that are gone, which
        // this thread has acquired with their count, is linked (Acquire in `try_leave` and `look`).
        // Acquire pairs with the Release in `try_leave`: the state as its last holder left it.
        self.0.swap(mark.0, Ordering::AcqRel).is_null()
    }

    /// Returns what is there now. The head's holder may find a mark; any thread may find whether a
    /// request is still the last.
    #[inline(always)]
    pub(crate) fn look(&self) -> SeenTail {
        // ORDERING: Acquire pairs with the Release in `end_with`: all links are in place. For the
        // other uses: what the caller reads next, such as links, is at least as new as this.
        SeenTail(self.0.load(Ordering::Acquire))
    }

    /// Returns whether a request in the queue is still its last.
    #[inline(always)]
    pub(super) fn has_last(&self, slot: LiveSlot) -> bool {
        self.look().is(slot)
    }

    /// The same after the last handle was given up: exact, since none is appended any more.
    #[inline(always)]
    pub(crate) fn has_last_for_good(&self, slot: LiveSlot) -> bool {
        // ORDERING: Relaxed. Requests are appended by owners of handles, which have given these up
        // before; the caller has acquired that with their count.
        self.0.load(Ordering::Relaxed) == slot.as_ptr()
    }

    /// Returns whether the queue is empty: for a thread that is about to access the state, without
    /// a token, since no request can come any more.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `try_leave`: the last behaviour's work comes
        // before what is done with the state now.
        self.0.load(Ordering::Acquire).is_null()
    }

    /// Returns whether the queue seems to be empty: a hint.
    #[inline(always)]
    pub(super) fn seems_empty(&self) -> bool {
        // ORDERING: Relaxed. The result is a hint.
        self.0.load(Ordering::Relaxed).is_null()
    }
}

impl SeenTail {
    /// Returns whether it is this request.
    #[inline(always)]
    pub(crate) fn is(self, slot: LiveSlot) -> bool {
        self.0 == slot.as_ptr()
    }

    /// Returns the mark, if it is one.
    #[inline(always)]
    pub(crate) fn end_mark(self) -> Option<EndMark> {
        (self.0.addr() & EndMark::BIT != 0).then_some(EndMark(self.0))
    }
}

impl EndMark {
    const BIT: usize = 1;

    /// Marks a pointer, which is aligned.
    pub(super) fn new(of: *const ()) -> Self {
        Self(of.cast_mut().map_addr(|addr| addr | Self::BIT).cast())
    }

    /// Returns that pointer.
    #[inline(always)]
    pub(super) fn get(self) -> *const () {
        self.0.map_addr(|addr| addr & !Self::BIT).cast_const().cast()
    }
}
