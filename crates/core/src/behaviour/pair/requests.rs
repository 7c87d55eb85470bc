//! The two requests of a pair, in its block.

use std::mem::size_of;
use std::ptr::NonNull;

use crate::cown::member_cursor::MemberCursor;
use crate::queue::multi_block::{Multi, MultiSlot};
use crate::queue::slot::Slot;
use crate::task::RunContext;

/// Returns the requests of a pair.
///
/// # Safety
/// The node is that of a pair.
#[inline(always)]
pub(super) unsafe fn slots(node: NonNull<Multi>) -> [NonNull<MultiSlot>; 2] {
    let first = Multi::slots(node);
    // SAFETY: a pair has two slots.
    unsafe { [first, first.add(1)] }
}

/// Returns whether a cown of a pair is poisoned or closed, or the context says that bodies are
/// dropped.
///
/// # Safety
/// The behaviour is live, and holds its cowns.
#[inline(always)]
pub(super) unsafe fn may_be_refused(node: NonNull<Multi>, context: &RunContext) -> bool {
    // SAFETY: the behaviour is live and holds its cowns, which are thus alive.
    unsafe {
        let flags =
            |slot: NonNull<MultiSlot>| &slot.cast::<Slot>().as_ref().member().header().flags;
        let [a, b] = slots(node).map(flags);
        a.may_be_refused_with(b, context)
    }
}

/// Iterates over the members of a pair.
///
/// # Safety
/// The behaviour is live for `'a`.
#[inline(always)]
pub(super) unsafe fn cursor<'a>(node: NonNull<Multi>) -> MemberCursor<'a> {
    // SAFETY: the behaviour is live for `'a`; the members are in the slots, one slot's size apart.
    unsafe {
        let [first, _] = slots(node);
        MemberCursor::new(first.cast::<Slot>().as_ref().member_ptr(), size_of::<MultiSlot>(), 2)
    }
}

/// Prefetches the requests behind a pair, whose counts are written at its end.
///
/// # Safety
/// The behaviour is live.
#[inline(always)]
pub(super) unsafe fn prefetch_successors(node: NonNull<Multi>) {
    // SAFETY: the behaviour is live, and that of a pair.
    for slot in unsafe { slots(node) } {
        // SAFETY: the slots are live.
        unsafe { slot.cast::<Slot>().as_ref() }.prefetch_successor();
    }
}
