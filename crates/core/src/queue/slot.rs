//! A request: one entry of a cown's queue.

use std::ptr::{NonNull, null_mut, without_provenance_mut};

use coact_sync::shim::atomic::{AtomicPtr, Ordering};

/// One entry of a cown's queue. It is part of the behaviour that it belongs to: directly behind the
/// [`Task`](crate::task::Task) header of a single, in the slot array of a
/// [`Multi`](crate::queue::multi::Multi), or on the stack for a behaviour that runs in its caller.
///
/// `next` is written by the entry's successor in the queue (or by the appender of a batch, for
/// entries that it chains itself), and read by the holder of this entry when it leaves. Before
/// that, the appender of a step over several queues marks there that the step is in progress.
#[repr(C, align(8))]
pub(crate) struct Slot {
    pub(crate) next: AtomicPtr<Slot>,
    pub(super) placement: Placement,
}

/// What the request asks for, and whether it is placed: one word, since a request has no room for
/// more. See `enqueue_state.rs`.
#[cfg(not(loom))]
#[repr(transparent)]
pub(super) struct Placement(pub(super) AtomicPtr<()>);

/// The same with a separate word for the mark: a model's atomic pointer is not a plain pointer in
/// memory, and a member is read in place as one.
#[cfg(loom)]
#[repr(C)]
pub(super) struct Placement {
    pub(super) member: NonNull<()>,
    pub(super) is_placed: coact_sync::shim::atomic::AtomicBool,
}

impl Slot {
    /// The `next` of the last request that a step over several queues has in this one, until it is
    /// in all of them.
    pub(super) const STEPPING: *mut Slot = without_provenance_mut(3 * align_of::<Slot>());

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
        // ORDERING: Release pairs with the Acquire in `is_placed`. No other thread has written: a
        // successor waits for this.
        self.next.store(null_mut(), Ordering::Release);
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
    pub(crate) const READS: *mut Slot = without_provenance_mut(2 * align_of::<Slot>());

    /// Records that the request was granted for reading and has left its queue, for the search of
    /// what it holds up while its behaviour waits for other cowns.
    #[inline]
    pub(crate) fn reads(&self) {
        // ORDERING: Release pairs with the Acquire in the blocked set's `holds_up`: the reader is
        // counted before this.
        self.next.store(Self::READS, Ordering::Release);
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
    pub(crate) fn of(slot: NonNull<Slot>) -> Self {
        Self(slot.as_ptr().addr())
    }
}
