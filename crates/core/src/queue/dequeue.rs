//! Leaving a queue: how the token holder removes the head. See README.md, "Release".

use super::header::CownHeader;
use super::state_dropper::StateDropper;
use super::tail::SeenTail;
use crate::poll_until;
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;

/// Takes the head out of its queue. Returns the new head, which gets the token; `None` ends the
/// token.
///
/// # Safety
/// The caller has the token, and `head` is the head of the queue. After `None` the cown may be
/// gone; after `Some` the caller owns the old head exclusively.
#[inline]
pub(crate) unsafe fn leave(header: &CownHeader, head: LiveSlot) -> Option<LiveSlot> {
    // SAFETY: the caller has the token, and the head was granted, or claimed without a step.
    if let Some(next) = unsafe { head.successor() } {
        return Some(next);
    }
    let tail = header.tail.try_leave(head).err()?;
    // SAFETY: the caller has the token, and the request is not the last.
    Some(unsafe { wait_for_successor(header, head, tail) })
}

/// Takes the head out of its queue if it has no successor. Returns `false`, without effect, if it
/// has one.
///
/// # Safety
/// See [`leave`]; after `true` the cown may be gone.
#[inline(always)]
pub(crate) unsafe fn leave_alone(header: &CownHeader, head: LiveSlot) -> bool {
    head.slot().seems_last() && header.tail.try_leave(head).is_ok()
}

/// The same for a head whose `next` was null.
///
/// # Safety
/// See [`leave_alone`].
#[inline(always)]
pub(crate) unsafe fn leave_last(header: &CownHeader, head: LiveSlot) -> bool {
    header.tail.try_leave(head).is_ok()
}

/// Returns the successor of a request that is not the last of its queue.
///
/// # Safety
/// The caller has the token, and has taken all requests up to this one.
pub(crate) unsafe fn successor(slot: LiveSlot) -> LiveSlot {
    // SAFETY: the caller has the token, and the request was granted or claimed: no step goes on.
    unsafe { slot.successor().unwrap_or_else(|| wait_for_link(slot)) }
}

/// Waits for a successor that has swapped itself in and is about to link itself.
///
/// # Safety
/// See [`LiveSlot::successor`].
#[cold]
unsafe fn wait_for_link(slot: LiveSlot) -> LiveSlot {
    // SAFETY: as this function requires.
    poll_until::poll_until_some(|| unsafe { slot.successor() })
}

/// Returns the request behind the head, given a tail that is not the head.
///
/// # Safety
/// The caller has the token, and read the tail from this cown.
#[cold]
unsafe fn wait_for_successor(header: &CownHeader, head: LiveSlot, tail: SeenTail) -> LiveSlot {
    // SAFETY: the caller has the token, with which the head keeps the cown alive, and no step of
    // the head goes on. A mark was read from this cown, so it is of the cown's type; the request
    // keeps an address, from which it makes a pointer to the whole cown.
    unsafe {
        match next_or_end(head, tail) {
            AfterHead::Request(next) => next,
            AfterHead::End(last) => last.request(LiveCown::from_ref(header)),
        }
    }
}

/// What follows the head of a queue.
pub(super) enum AfterHead {
    Request(LiveSlot),
    /// No request: the state must be dropped.
    End(&'static StateDropper),
}

/// Finds what follows the head, given a tail that is not the head. If the tail is a request, the
/// successor is about to link itself, and this waits for it. If the tail is the mark, all links are
/// in place.
///
/// # Safety
/// The caller has the token, `head` is the head of the queue, and the tail was read from it.
#[inline]
pub(super) unsafe fn next_or_end(head: LiveSlot, tail: SeenTail) -> AfterHead {
    // SAFETY: the caller has the token, and the head was granted, or claimed without a step.
    unsafe {
        match tail.end_mark() {
            None => AfterHead::Request(wait_for_link(head)),
            Some(mark) => head
                .successor()
                .map_or(AfterHead::End(StateDropper::of_mark(mark)), AfterHead::Request),
        }
    }
}
