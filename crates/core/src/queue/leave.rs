//! Leaving a queue: how the token holder removes the head. See README.md, "Release".

use std::ptr::{NonNull, null_mut};

use coact_sync::shim::atomic::Ordering;

use super::end_mark::Last;
use super::header::CownHeader;
use super::slot::Slot;
use crate::spin_wait;

/// Takes the head out of its queue. Returns the new head, which gets the token; `None` ends the
/// token.
///
/// # Safety
/// The caller has the token, and `head` is the head of the queue. After `None` the cown may be
/// gone; after `Some` the caller owns the old head exclusively.
#[inline]
pub(crate) unsafe fn leave(header: &CownHeader, head: NonNull<Slot>) -> Option<NonNull<Slot>> {
    // SAFETY: a queued request is live.
    let slot = unsafe { head.as_ref() };
    // ORDERING: Acquire pairs with the Release in `link`: the successor is dereferenced.
    if let Some(next) = NonNull::new(slot.next.load(Ordering::Acquire)) {
        return Some(next);
    }
    let tail = try_leave_last(header, head.as_ptr()).err()?;
    // SAFETY: the caller has the token, and the request is not the last.
    Some(unsafe { wait_for_successor(header, slot, tail) })
}

/// Takes the head out of its queue if it has no successor. Returns `false`, without effect, if it
/// has one.
///
/// # Safety
/// See [`leave`]; after `true` the cown may be gone.
#[inline(always)]
pub(crate) unsafe fn leave_alone(header: &CownHeader, head: NonNull<Slot>) -> bool {
    // ORDERING: Relaxed. It only tells whether there is a successor.
    // SAFETY: a queued request is live.
    unsafe { head.as_ref() }.next.load(Ordering::Relaxed).is_null()
        && try_leave_last(header, head.as_ptr()).is_ok()
}

/// The same for a head whose `next` was null.
///
/// # Safety
/// See [`leave_alone`].
#[inline(always)]
pub(crate) unsafe fn leave_last(header: &CownHeader, head: NonNull<Slot>) -> bool {
    try_leave_last(header, head.as_ptr()).is_ok()
}

/// Empties the queue if the head is its last request and no mark has replaced the tail. Otherwise
/// returns the tail.
#[inline(always)]
pub(super) fn try_leave_last(header: &CownHeader, head: *mut Slot) -> Result<(), *mut Slot> {
    // ORDERING: Release publishes the state that this holder wrote to the next thread that finds
    // the queue empty (Acquire in `swap_tail`, `take_from`, `is_idle` and `leave_to_the_last`).
    // Acquire on failure: see `next_or_end`.
    let (ok, failed) = (Ordering::Release, Ordering::Acquire);
    header.tail.compare_exchange(head, null_mut(), ok, failed).map(drop)
}

/// Returns the successor of a request that is not the last of its queue.
///
/// # Safety
/// The caller has the token, and has taken all requests up to this one.
pub(crate) unsafe fn successor(slot: NonNull<Slot>) -> NonNull<Slot> {
    // SAFETY: a queued request is live.
    let slot = unsafe { slot.as_ref() };
    // ORDERING: Acquire, as in `leave`.
    NonNull::new(slot.next.load(Ordering::Acquire)).unwrap_or_else(|| wait_for_link(slot))
}

/// Waits for a successor that has swapped itself in and is about to link itself.
#[cold]
fn wait_for_link(slot: &Slot) -> NonNull<Slot> {
    // ORDERING: Acquire, as in `leave`.
    spin_wait::wait_for(|| NonNull::new(slot.next.load(Ordering::Acquire)))
}

/// Returns the request behind the head, given a tail that is not the head.
///
/// # Safety
/// The caller has the token, and read the tail from this cown.
#[cold]
unsafe fn wait_for_successor(header: &CownHeader, head: &Slot, tail: *mut Slot) -> NonNull<Slot> {
    match next_or_end(head, tail) {
        Next::Request(next) => next,
        // SAFETY: the mark was read from this cown, so it is of the cown's type.
        Next::End(last) => unsafe { last.request(NonNull::from(header)) },
    }
}

/// What follows the head of a queue.
pub(super) enum Next {
    Request(NonNull<Slot>),
    /// No request: the state must be dropped.
    End(&'static Last),
}

/// Finds what follows the head, given a tail (read with Acquire) that is not the head. If the tail
/// is a request, the successor is about to link itself, and this waits for it. If the tail is the
/// mark, all links are in place.
#[inline]
pub(super) fn next_or_end(head: &Slot, tail: *mut Slot) -> Next {
    let Some(last) = Last::of_tail(tail) else { return Next::Request(wait_for_link(head)) };
    // ORDERING: Acquire, as in `leave`. The tail's Acquire pairs with the Release in
    // `leave_to_the_last`, which follows all links.
    NonNull::new(head.next.load(Ordering::Acquire)).map_or(Next::End(last), Next::Request)
}
