//! Sets with several members of one group: one request is in the queue for all of them.

use std::ptr::NonNull;

use smallvec::SmallVec;

use crate::queue::header::CownHeader;
use crate::queue::slot::Slot;

/// The requests of one behaviour for members of groups.
#[derive(Default)]
pub(crate) struct GroupedRequests(SmallVec<[NonNull<Slot>; 8]>);

/// The result of joining them.
pub(crate) struct JoinedRequests {
    /// The number of requests that need not be queued.
    pub(crate) count: usize,
    /// Whether the set names a cown twice.
    pub(crate) overlaps: bool,
}

impl GroupedRequests {
    pub(crate) fn push(&mut self, slot: NonNull<Slot>) {
        self.0.push(slot);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Chooses a request for each group, passes it on with the group's leader, and
    /// [joins](Slot::join) the others to it.
    ///
    /// # Safety
    /// The slots are live, unqueued, and for members of groups that are alive.
    pub(crate) unsafe fn join(
        mut self,
        queued: &mut dyn FnMut(NonNull<CownHeader>, NonNull<Slot>),
    ) -> JoinedRequests {
        // SAFETY: the slot is live, and its member alive.
        let leader = |slot: &NonNull<Slot>| unsafe { slot.as_ref().member().queue_ptr() };
        // SAFETY: the slot is live.
        let cown = |slot: &NonNull<Slot>| unsafe { slot.as_ref().member().header_ptr() };
        self.0.sort_unstable_by_key(|slot| {
            (CownHeader::rank(leader(slot)), CownHeader::rank(cown(slot)))
        });
        let mut joined = JoinedRequests { count: 0, overlaps: false };
        for group in self.0.chunk_by(|a, b| leader(a) == leader(b)) {
            joined.overlaps |= group.windows(2).any(|pair| cown(&pair[0]) == cown(&pair[1]));
            joined.count += group.len() - 1;
            for slot in &group[1..] {
                // SAFETY: the slot is live, and no other thread knows it.
                unsafe { slot.as_ref() }.join();
            }
            queued(leader(&group[0]), group[0]);
        }
        joined
    }
}
