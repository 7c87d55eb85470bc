//! The requests of a behaviour in the order of their cowns, in which they are appended.

use smallvec::SmallVec;

use crate::cown::set::CownSet;
use crate::queue::append::StepEntry;

/// Requests for the usual number of cowns are on the stack.
pub(super) type RequestList = SmallVec<[StepEntry; 8]>;

/// Sorts requests by cown. The order among those of one cown is kept.
#[inline]
pub(super) fn sort(requests: &mut [StepEntry]) {
    match requests {
        [a, b] => {
            if b.rank() < a.rank() {
                std::mem::swap(a, b);
            }
        }
        _ => requests.sort_by_key(StepEntry::rank),
    }
}

/// Returns whether sorted requests of one behaviour certainly name no cown twice.
#[inline]
pub(super) fn has_no_overlap<S: CownSet>(set: &S, sorted: &[StepEntry]) -> bool {
    // Members of one group are joined, including any that are named twice.
    sorted.len() == set.member_count()
        && sorted.windows(2).all(|pair| pair[0].header != pair[1].header)
}
