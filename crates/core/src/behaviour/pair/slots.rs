//! The two requests of a pair, in its block.

use std::mem::size_of;

use crate::cown::member_cursor::MemberCursor;
use crate::queue::live_slot::LiveSlot;
use crate::queue::multi_block::{LiveMulti, MultiSlot};
use crate::task::RunContext;

/// Returns the requests of a pair.
///
/// # Safety
/// The node is that of a pair.
#[inline(always)]
pub(super) unsafe fn slots(node: LiveMulti) -> [LiveSlot; 2] {
    let first = node.first_slot();
    // SAFETY: a pair has two slots, which are live as long as it is.
    unsafe { [LiveSlot::new(first.cast()), LiveSlot::new(first.add(1).cast())] }
}

/// Returns whether a cown of a pair is poisoned or closed, or the context says that bodies are
/// dropped.
///
/// # Safety
/// The behaviour is live, and holds its cowns.
#[inline(always)]
pub(super) unsafe fn may_be_refused(node: LiveMulti, context: &RunContext) -> bool {
    // SAFETY: the behaviour is live and holds its cowns, which are thus alive.
    unsafe {
        let flags = |slot: LiveSlot| &slot.slot().member().header().flags;
        let [a, b] = slots(node).map(flags);
        a.may_be_refused_with(b, context)
    }
}

/// Iterates over the members of a pair.
///
/// # Safety
/// The behaviour is live for `'a`.
#[inline(always)]
pub(super) unsafe fn cursor<'a>(node: LiveMulti) -> MemberCursor<'a> {
    // SAFETY: the behaviour is live for `'a`; the members are in the slots, one slot's size apart.
    unsafe {
        let [first, _] = slots(node);
        MemberCursor::new(first.slot().member_ptr(), size_of::<MultiSlot>(), 2)
    }
}

/// Prefetches the requests behind a pair, whose counts are written at its end.
///
/// # Safety
/// The behaviour is that of a pair.
#[inline(always)]
pub(super) unsafe fn prefetch_successors(node: LiveMulti) {
    // SAFETY: the behaviour is live, and that of a pair.
    for slot in unsafe { slots(node) } {
        slot.slot().prefetch_successor();
    }
}
