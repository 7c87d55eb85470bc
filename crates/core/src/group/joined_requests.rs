//! Sets with several members of one group: one request is in the queue for all of them.

use smallvec::SmallVec;

use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;

/// The requests of one behaviour for members of groups.
#[derive(Default)]
pub(crate) struct GroupedRequests(SmallVec<[LiveSlot; 8]>);

/// The result of joining them.
pub(crate) struct JoinedRequests {
    /// The number of requests that need not be queued.
    pub(crate) count: usize,
    /// Whether the set names a cown twice.
    pub(crate) overlaps: bool,
}

impl GroupedRequests {
    pub(crate) fn push(&mut self, slot: LiveSlot) {
        self.0.push(slot);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Chooses a request for each group, passes it on with the group's leader, and
    /// [joins](Slot::join) the others to it.
    pub(crate) fn join(mut self, queued: &mut dyn FnMut(LiveCown, LiveSlot)) -> JoinedRequests {
        let leader = |slot: &LiveSlot| slot.slot().member().queue();
        let cown = |slot: &LiveSlot| slot.slot().member().live_cown();
        self.0.sort_unstable_by_key(|slot| (leader(slot).rank(), cown(slot).rank()));
        let mut joined = JoinedRequests { count: 0, overlaps: false };
        for group in self.0.chunk_by(|a, b| leader(a) == leader(b)) {
            joined.overlaps |= group.windows(2).any(|pair| cown(&pair[0]) == cown(&pair[1]));
            joined.count += group.len() - 1;
            for slot in &group[1..] {
                slot.slot().join();
            }
            queued(leader(&group[0]), group[0]);
        }
        joined
    }
}
