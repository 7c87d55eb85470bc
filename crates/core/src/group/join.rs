//! Sets that name several members of a group: one request stands in the queue for all of them.

use std::ptr::NonNull;

use smallvec::SmallVec;

use crate::queue::header::CownHeader;
use crate::queue::slot::Slot;

/// The requests of one behaviour that are for members of groups.
#[derive(Default)]
pub(crate) struct Grouped(SmallVec<[NonNull<Slot>; 8]>);

/// What came of joining them.
pub(crate) struct Joined {
    /// How many requests need not stand in a queue.
    pub(crate) count: usize,
    /// Whether a cown is named twice.
    pub(crate) overlaps: bool,
}

impl Grouped {
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
    /// The slots are live, not queued, and for members of groups that are alive.
    pub(crate) unsafe fn join(
        mut self,
        queued: &mut dyn FnMut(NonNull<CownHeader>, NonNull<Slot>),
    ) -> Joined {
        // SAFETY: by the caller's word.
        let leader = |slot: &NonNull<Slot>| unsafe { slot.as_ref().member().queue_ptr() };
        // SAFETY: as above.
        let cown = |slot: &NonNull<Slot>| unsafe { slot.as_ref().member().header_ptr() };
        self.0.sort_unstable_by_key(|slot| {
            (CownHeader::rank(leader(slot)), CownHeader::rank(cown(slot)))
        });
        let mut joined = Joined { count: 0, overlaps: false };
        for group in self.0.chunk_by(|a, b| leader(a) == leader(b)) {
            joined.overlaps |= group.windows(2).any(|pair| cown(&pair[0]) == cown(&pair[1]));
            joined.count += group.len() - 1;
            for slot in &group[1..] {
                // SAFETY: live, by the caller's word.
                unsafe { slot.as_ref() }.join();
            }
            queued(leader(&group[0]), group[0]);
        }
        joined
    }
}
