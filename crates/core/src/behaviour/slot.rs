//! A request's place in one cown's queue.

use std::ptr::{null_mut, without_provenance_mut};

use coact_sync::shim::atomic::{AtomicPtr, Ordering};

use crate::cown::header::Member;

/// One entry of a cown's queue. It lies inside the behaviour that it belongs to: straight behind
/// the [`Task`](super::task::Task) header of a one-cown behaviour, or in the slot array of a
/// [`Multi`](super::multi::Multi).
///
/// `next` is written once, by the entry's successor in the queue (or by the appender of a batch
/// for entries that it chains itself), and read by the holder of this entry when it leaves.
#[repr(C, align(8))]
pub(crate) struct Slot {
    pub(crate) next: AtomicPtr<Slot>,
    pub(crate) member: Member,
}

impl Slot {
    #[inline]
    pub(crate) fn new(member: Member) -> Self {
        Self { next: AtomicPtr::new(null_mut()), member }
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
        // ORDERING: Release pairs with the acquire in the survey's `holds_up`: the reader is counted before.
        self.next.store(Self::READS, Ordering::Release);
    }

    /// Whether another request stands for this one.
    #[inline]
    pub(crate) fn is_joined(&self) -> bool {
        // ORDERING: Relaxed. Written before the behaviour was appended, and never again.
        std::ptr::eq(self.next.load(Ordering::Relaxed), Self::JOINED)
    }
}
