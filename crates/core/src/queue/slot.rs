//! A request's place in one cown's queue.

use std::ptr::{NonNull, null_mut, without_provenance_mut};

use coact_sync::shim::atomic::{AtomicPtr, Ordering};

use super::placement::Placement;
use crate::queue::header::Member;

/// One entry of a cown's queue. It lies inside the behaviour that it belongs to: straight behind
/// the [`Task`](crate::task::Task) header of a one-cown behaviour, or in the slot array of a
/// [`Multi`](crate::queue::multi::Multi); that of a behaviour which runs in the caller lies on the stack.
///
/// `next` is written by the entry's successor in the queue (or by the appender of a batch for entries
/// that it chains itself), and read by the holder of this entry when it leaves. Before that, the appender
/// of a step over several queues marks there that it is not through.
#[repr(C, align(8))]
pub(crate) struct Slot {
    pub(crate) next: AtomicPtr<Slot>,
    placement: Placement,
}

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
        self.placement.member()
    }

    /// Where that can be read, while the behaviour holds the cown.
    #[inline]
    pub(crate) fn member_ptr(&self) -> *const Member {
        self.placement.member_ptr()
    }

    /// What `next` is in the last request that a step over several queues has in this one, until it has its places in
    /// all of them.
    const STEPPING: *mut Slot = without_provenance_mut(3 * align_of::<Slot>());

    /// Says that the request is part of a step over several queues that is about to begin.
    #[inline]
    pub(crate) fn begin_step(&self) {
        // ORDERING: Relaxed. Published by the exchange of the tail that follows.
        self.next.store(Self::STEPPING, Ordering::Relaxed);
    }

    /// Says that the step has its places in all queues: nobody has come behind it on one of them, and before it on
    /// another.
    #[inline]
    pub(crate) fn end_step(&self) {
        // ORDERING: Release pairs with the acquire in `is_placed`. Nobody else has written: a successor waits for this.
        self.next.store(null_mut(), Ordering::Release);
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

    /// What `next` is in a request that stands in no queue.
    const JOINED: *mut Slot = without_provenance_mut(align_of::<Slot>());

    /// Says that another request of the same behaviour stands in the queue for this one too: their
    /// cowns are of one group.
    pub(crate) fn join(&self) {
        // ORDERING: Relaxed. The behaviour is not appended yet.
        self.next.store(Self::JOINED, Ordering::Relaxed);
    }

    /// What `next` is in a request that was granted for reading, and has left its queue.
    pub(crate) const READS: *mut Slot = without_provenance_mut(2 * align_of::<Slot>());

    /// Says that the request was granted for reading, and has left its queue: for whoever wants to know
    /// what it holds up while its behaviour waits for other cowns.
    #[inline]
    pub(crate) fn reads(&self) {
        // ORDERING: Release pairs with the acquire in the blocked set's `holds_up`: the reader is counted before.
        self.next.store(Self::READS, Ordering::Release);
    }

    /// Whether another request stands for this one.
    #[inline]
    pub(crate) fn is_joined(&self) -> bool {
        // ORDERING: Relaxed. Written before the behaviour was appended, and never again.
        std::ptr::eq(self.next.load(Ordering::Relaxed), Self::JOINED)
    }
}

/// Where a behaviour stands in the queue of a cown. It says something only as long as the behaviour
/// has not run: places are used again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QueuePosition(usize);

impl QueuePosition {
    pub(crate) fn of(slot: NonNull<Slot>) -> Self {
        Self(slot.as_ptr().addr())
    }
}
