//! A request's place in one cown's queue.

use std::ptr::null_mut;

use coact_sync::shim::atomic::AtomicPtr;

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
}
