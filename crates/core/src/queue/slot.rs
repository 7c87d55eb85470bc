//! A request: one entry of a cown's queue.

use std::ptr::{NonNull, null_mut, without_provenance_mut};

use coact_sync::prefetch;
use coact_sync::shim::atomic::{AtomicPtr, Ordering};

/// One entry of a cown's queue. It is part of the behaviour that it belongs to: directly behind the
/// [`Task`](crate::task::Task) header of a single, in the slot array of a
/// [`Multi`](crate::queue::multi_block::Multi), or on the stack for a behaviour that runs in its
/// caller.
///
/// `next` is written by the entry's successor in the queue (or by the appender of a batch, for
/// entries that it chains itself), and read by the holder of this entry when it leaves. Before
/// that, the appender of a step over several queues marks there that the step is in progress.
#[repr(C, align(8))]
pub(crate) struct Slot {
    next: AtomicPtr<Slot>,
    pub(super) placement: SlotPlacement,
}

/// What the request asks for, and whether it is placed: one word, since a request has no room for
/// more. See `slot_placement.rs`.
#[cfg(not(loom))]
#[repr(transparent)]
pub(super) struct SlotPlacement(pub(super) AtomicPtr<()>);

/// The same with a separate word for the mark: a model's atomic pointer is not a plain pointer in
/// memory, and a member is read in place as one.
#[cfg(loom)]
#[repr(C)]
pub(super) struct SlotPlacement {
    pub(super) member: NonNull<()>,
    pub(super) is_placed: coact_sync::shim::atomic::AtomicBool,
}

impl Slot {
    #[inline(always)]
    pub(super) fn unlinked(placement: SlotPlacement) -> Self {
        Self { next: AtomicPtr::new(null_mut()), placement }
    }

    /// Lets the holder of this request find its successor.
    #[inline(always)]
    pub(super) fn link(&self, next: NonNull<Slot>) {
        // ORDERING: Release publishes the request behind `next`; pairs with the Acquire in
        // `successor`.
        self.next.store(next.as_ptr(), Ordering::Release);
    }

    /// Returns the request behind this one, if it has linked itself. For the holder, or a thread
    /// that keeps the request in its queue, and knows that its step is over: then there is no mark.
    #[inline(always)]
    pub(crate) fn successor(&self) -> Option<NonNull<Slot>> {
        // ORDERING: Acquire pairs with the Release in `link`: the successor is dereferenced, its
        // step is over, and what its spawner did comes before it runs.
        NonNull::new(self.next.load(Ordering::Acquire))
    }

    /// Returns whether no request seems to be behind this one.
    #[inline(always)]
    pub(super) fn seems_last(&self) -> bool {
        // ORDERING: Relaxed. The exchange of the tail confirms it; and a successor is not used.
        self.next.load(Ordering::Relaxed).is_null()
    }

    /// Prefetches the request behind this one, whose count is written when this one's behaviour
    /// ends.
    #[inline(always)]
    pub(crate) fn prefetch_successor(&self) {
        // ORDERING: Relaxed. It is only a hint.
        prefetch::for_writing(self.next.load(Ordering::Relaxed));
    }

    /// Forgets the successor: the request has left its queue, and is about to get into one again.
    pub(super) fn unlink(&self) {
        // ORDERING: Relaxed. The request belongs to this thread alone again.
        self.next.store(null_mut(), Ordering::Relaxed);
    }

    /// The word as the scheduler's link of a task whose request is in no queue.
    pub(super) fn as_link(&self) -> NonNull<AtomicPtr<()>> {
        // The cast changes only the pointee type of the atomic pointer, on which its users agree.
        NonNull::from(&self.next).cast()
    }

    /// The `next` of the last request that a step over several queues has in this one, until it is
    /// in all of them.
    const STEPPING: *mut Slot = without_provenance_mut(3 * align_of::<Slot>());

    /// Marks the request as part of a step over several queues that is about to begin.
    #[inline]
    pub(crate) fn begin_step(&self) {
        // ORDERING: Relaxed. The exchange of the tail that follows publishes it.
        self.next.store(Self::STEPPING, Ordering::Relaxed);
    }

    /// Removes the mark: the step is in all its queues, so no request can get behind it in one and
    /// before it in another.
    #[inline]
    pub(crate) fn end_step(&self) {
        // ORDERING: Release pairs with the Acquire in `is_stepping`. No other thread has written: a
        // successor waits for this.
        self.next.store(null_mut(), Ordering::Release);
    }

    /// Returns whether that mark is there.
    #[inline(always)]
    pub(super) fn is_stepping(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `end_step`: what the caller does next comes
        // after all exchanges of that step.
        std::ptr::eq(self.next.load(Ordering::Acquire), Self::STEPPING)
    }

    /// The `next` of a request that is in no queue.
    const JOINED: *mut Slot = without_provenance_mut(align_of::<Slot>());

    /// Records that another request of the same behaviour is in the queue for this one too: their
    /// cowns are in one group.
    pub(crate) fn join(&self) {
        // ORDERING: Relaxed. The behaviour is not appended yet.
        self.next.store(Self::JOINED, Ordering::Relaxed);
    }

    /// The `next` of a request that was granted for reading and has left its queue.
    const READS: *mut Slot = without_provenance_mut(2 * align_of::<Slot>());

    /// Records that the request was granted for reading and has left its queue, for the search of
    /// what it holds up while its behaviour waits for other cowns.
    #[inline]
    pub(crate) fn reads(&self) {
        // ORDERING: Release pairs with the Acquire in `is_reading`: the reader is counted before
        // this.
        self.next.store(Self::READS, Ordering::Release);
    }

    /// Returns whether the request was granted for reading and has left its queue.
    pub(crate) fn is_reading(&self) -> bool {
        // ORDERING: Acquire pairs with the Release in `reads`: it is among the readers counted.
        std::ptr::eq(self.next.load(Ordering::Acquire), Self::READS)
    }

    /// Returns whether another request is in the queue for this one.
    #[inline]
    pub(crate) fn is_joined(&self) -> bool {
        // ORDERING: Relaxed. Written before the behaviour was appended, and never again.
        std::ptr::eq(self.next.load(Ordering::Relaxed), Self::JOINED)
    }
}

/// Identifies a behaviour's entry in a cown's queue. Meaningful only until the behaviour has run:
/// slots are reused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QueuePosition(usize);

impl QueuePosition {
    pub(crate) fn of(slot: &Slot) -> Self {
        Self(std::ptr::from_ref(slot).addr())
    }
}
