//! Passes a cown to the request at the head of its queue: the *run* rule. See README.md, "Grant".
//!
//! The **token** of a cown is the right to act on the head of its queue. The request that finds the
//! queue empty creates it, it moves from request to request, and it ends when the last one takes
//! itself out of the tail. There is never more than one.

use super::member_interrupt;
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;

use super::dequeue::leave;
use super::readers::ReaderWait;
use crate::queue::header::CownHeader;
use crate::queue::multi_block::LiveMulti;
use crate::queue::single_block::single_task;
use crate::sched::ReadySink;
use crate::simulated;
use crate::task::{GroupTaskFns, TaskPtr};

/// Grants the cown to `head` and, if that is a reader, to the readers directly behind it. Passes
/// behaviours that are then complete to `ready`.
///
/// # Safety
/// The caller has the token of the cown, and gives it away. `head` is the head of its queue.
#[inline]
pub(crate) unsafe fn grant(cown: LiveCown, head: LiveSlot, ready: &mut impl ReadySink) {
    let (header, member) = (cown.header(), head.slot().member());
    if member.is_read() && !header.is_interrupted() && !header.is_grouped() {
        // SAFETY: the caller has the token and gives it away here.
        return unsafe { grant_readers(cown, head, ready) };
    }
    if !header.is_unread() && !claim_from_readers(header, head) {
        return;
    }
    // SAFETY: there are no readers, and the caller gives the token away here.
    unsafe { grant_alone(cown, head, ready) };
}

/// Passes the token on when there are no readers: to the state if it has an interrupt, otherwise to
/// the request at the head.
///
/// # Safety
/// See [`grant`]; the cown has no readers.
#[inline(never)]
unsafe fn grant_alone(cown: LiveCown, head: LiveSlot, ready: &mut impl ReadySink) {
    let (header, member) = (cown.header(), head.slot().member());
    // SAFETY: the caller has the token, with no readers, and each branch gives it away.
    unsafe {
        if header.is_interrupted() {
            member_interrupt::enter(cown, head, ready);
        } else if member.is_read() && !header.is_grouped() {
            grant_readers(cown, head, ready);
        } else {
            grant_exclusive(header, head, ready);
        }
    }
}

/// Passes the token on after an exclusive hold: there are no readers, since only the token holder
/// could have let them in. Not for a leader.
///
/// # Safety
/// See [`grant`].
#[inline(always)]
pub(crate) unsafe fn pass_on(cown: LiveCown, head: LiveSlot, ready: &mut impl ReadySink) {
    // SAFETY: the request keeps the cown alive; the caller has the token, with no readers, and each
    // branch gives it away.
    unsafe {
        let header = cown.header();
        if !header.is_interrupted() && !head.slot().member().is_read() {
            grant_exclusive(header, head, ready);
        } else {
            grant_alone(cown, head, ready);
        }
    }
}

/// Passes the token of the queue to an exclusive request. (A group is held as a whole, so requests
/// that read its members are exclusive.)
///
/// # Safety
/// The caller has the token, `head` is the head, and the cown has no readers.
#[inline(always)]
unsafe fn grant_exclusive(header: &CownHeader, head: LiveSlot, ready: &mut impl ReadySink) {
    let member = head.slot().member();
    if member.is_multi() {
        // SAFETY: the member says that the slot is in a `Multi`, which misses this grant.
        unsafe { LiveMulti::of(head).resolve_one(ready) };
    } else {
        let home = header.home_of_queue();
        // SAFETY: the member says that the slot is in a single, which is now ready.
        ready.ready(unsafe { single_task(head) }, home);
    }
}

/// Returns the task of a request in a leader's queue, and its halves, if it holds the group and
/// nothing else.
///
/// # Safety
/// The caller has the token, and the request is queued.
pub(crate) unsafe fn task_in_group(slot: LiveSlot) -> Option<(TaskPtr, GroupTaskFns)> {
    // SAFETY: a queued request is live, and the member says what kind of behaviour contains it.
    unsafe {
        let task = match slot.slot().member().is_multi() {
            true => LiveMulti::of(slot).task(),
            false => single_task(slot),
        };
        task.as_ref().vtable.in_group.map(|halves| (task, halves))
    }
}

/// Grants a run of readers. Each leaves the queue at once, so that the token can move on to the
/// request behind it; what remains of a reader is its count in the header.
///
/// # Safety
/// See [`grant`]; `head` is a reader.
#[cold]
unsafe fn grant_readers(cown: LiveCown, mut head: LiveSlot, ready: &mut impl ReadySink) {
    let header = cown.header();
    loop {
        header.add_reader();
        simulated::point();
        // SAFETY: this thread has the token, and `head` is the head.
        let next = unsafe { leave(header, head) };
        head.slot().reads();
        // SAFETY: the slot is in a `Multi` (all readers are), which misses this grant. It may run
        // and be freed from here on.
        unsafe { LiveMulti::of(head).resolve_one(ready) };
        let Some(next) = next else { return };
        if !next.slot().member().is_read() || header.is_interrupted() {
            if claim_from_readers(header, next) {
                // SAFETY: there are no readers, and this thread has the token.
                unsafe { grant_alone(cown, next, ready) };
            }
            return;
        }
        head = next;
    }
}

/// Leaves the token, for the exclusive request `head`, to the last reader. Returns `true` if there
/// are no readers: then the caller keeps the token.
#[cold]
fn claim_from_readers(header: &CownHeader, head: LiveSlot) -> bool {
    header.readers().wait(head) == ReaderWait::Over
}

/// Ends a reader. The last one passes the token to the waiting exclusive request, if there is one.
///
/// # Safety
/// The caller is a granted reader of the cown that has not ended, and does not use the cown
/// afterwards.
pub(crate) unsafe fn drop_reader(cown: LiveCown, ready: &mut impl ReadySink) {
    let waiter = cown.header().readers().end_one();
    if let Some(waiter) = waiter {
        // SAFETY: the token is this thread's, and the waiter, which is the head of the queue, keeps
        // the cown alive; there are no readers.
        unsafe { grant_alone(cown, waiter, ready) };
    }
}
