//! How a pair gets its cowns, or into their queues: the same code for pairs of all types.

use super::slots::slots;
use crate::path_coverage::FastPath;
use crate::queue::append::append_two;
use crate::queue::claim;
use crate::queue::live_cown::LiveCown;
use crate::queue::multi_block::LiveMulti;
use crate::sched::schedule;

/// Takes the cowns of a pair if they are free, or appends its requests: the same code for pairs of
/// all types. (The cowns are separate parameters, since an array would be passed in memory.)
///
/// # Safety
/// The node is that of a pair just created, and is given away. The cowns are its own, in order;
/// they are alive and distinct, and in no group.
#[inline(never)]
pub(super) unsafe fn launch(node: LiveMulti, first: LiveCown, second: LiveCown) {
    // SAFETY: the conditions are those of this function.
    unsafe {
        if first.header().is_in_use(false) || second.header().is_in_use(false) {
            queue(node, first, second);
        } else {
            launch_free(node, first, second);
        }
    }
}

/// The same if both cowns look free.
///
/// # Safety
/// See [`launch`].
#[inline(never)]
unsafe fn launch_free(node: LiveMulti, first: LiveCown, second: LiveCown) {
    // SAFETY: the cowns are alive, distinct and in no group, and the slots of the new node are
    // unqueued.
    unsafe {
        let slots = slots(node).map(|slot| slot.slot());
        let headers = [first.header(), second.header()];
        let are_usable = || headers.into_iter().all(|header| claim::is_usable(header, false));
        if claim::take_two_if(slots, headers, are_usable) {
            FastPath::PairFree.take();
            // The behaviour holds the first cown, so it cannot move.
            schedule(node.task(), first.header().home_of_queue());
        } else {
            queue(node, first, second);
        }
    }
}

/// Appends the requests of a pair.
///
/// # Safety
/// See [`launch`].
#[inline(always)]
unsafe fn queue(node: LiveMulti, first: LiveCown, second: LiveCown) {
    FastPath::PairQueued.take();
    // SAFETY: the cowns are alive, distinct and in no group, and the slots of the new node are
    // unqueued.
    unsafe {
        let [a, b] = slots(node);
        append_two([(a, first), (b, second)]);
    }
}
