//! A request's place in one cown's queue.

use std::ptr::{NonNull, null_mut, without_provenance_mut};

use coact_sync::shim::atomic::{AtomicPtr, Ordering};

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
    pub(super) placement: Placement,
}

/// What the request is for, and whether it has found its place: one word, as a request has no room for more.
/// `placement.rs` says what is in it.
#[cfg(not(loom))]
#[repr(transparent)]
pub(super) struct Placement(pub(super) AtomicPtr<()>);

/// The same with a word of its own for the mark: a model's pointer is no pointer in memory, and a member is read as one
/// there.
#[cfg(loom)]
#[repr(C)]
pub(super) struct Placement {
    pub(super) member: NonNull<()>,
    pub(super) is_placed: coact_sync::shim::atomic::AtomicBool,
}

impl Slot {
    /// What `next` is in the last request that a step over several queues has in this one, until it has its places in
    /// all of them.
    pub(super) const STEPPING: *mut Slot = without_provenance_mut(3 * align_of::<Slot>());

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
