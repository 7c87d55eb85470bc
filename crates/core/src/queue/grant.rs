//! Passing a cown to the request at the head of its queue: the *run* rule. See README.md, "Grant".
//!
//! The **token** of a cown is the right to act on the head of its queue. It comes into being with
//! the request that finds the queue empty, is passed on from request to request, and ends when the
//! last one takes itself out of the tail. There is never more than one.

use super::interrupt;
use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;

use super::leave::leave;
use super::slot::Slot;
use crate::queue::header::{CownHeader, ONE_READER, WAITER};
use crate::queue::multi::Multi;
use crate::queue::single::single_task;
use crate::sched::Ready;
use crate::simulated;
use crate::task::{InGroup, TaskPtr};

/// Grants the cown to `head` and, if that is a reader, to the readers that follow it directly.
/// Behaviours that miss nothing more are passed to `ready`.
///
/// # Safety
/// The caller has the token of the cown, and `head` is the head of its queue. The token is given
/// away by this call.
#[inline]
pub(crate) unsafe fn grant(cown: NonNull<CownHeader>, head: NonNull<Slot>, ready: &mut impl Ready) {
    // SAFETY: the request keeps the cown alive, and it is ours to look at while we have the token.
    let (header, member) = unsafe { (cown.as_ref(), head.as_ref().member()) };
    if member.is_read() && !header.is_interrupted() && !header.is_grouped() {
        // SAFETY: the token is passed on.
        return unsafe { grant_readers(cown, head, ready) };
    }
    if !header.is_unread() && !claim_from_readers(header, head) {
        return;
    }
    // SAFETY: no readers are left, and the token is passed on.
    unsafe { grant_alone(cown, head, ready) };
}

/// Hands the token on while nobody reads: to the state itself, if it wants to be interrupted, else
/// to the request at the head.
///
/// # Safety
/// As [`grant`], and no reader of the cown is left.
#[inline(never)]
unsafe fn grant_alone(cown: NonNull<CownHeader>, head: NonNull<Slot>, ready: &mut impl Ready) {
    // SAFETY: the request keeps the cown alive, and it is ours to look at while we have the token.
    let (header, member) = unsafe { (cown.as_ref(), head.as_ref().member()) };
    // SAFETY: alone with the token, which is passed on in each case.
    unsafe {
        if header.is_interrupted() {
            interrupt::enter(cown, head, ready);
        } else if member.is_read() && !header.is_grouped() {
            grant_readers(cown, head, ready);
        } else {
            grant_exclusive(header, head, ready);
        }
    }
}

/// Passes the token on for whoever has had the cown exclusively: so nobody reads it, since only the holder of the token
/// could have let readers in. Not for a leader.
///
/// # Safety
/// As [`grant`].
#[inline(always)]
pub(crate) unsafe fn pass_on(
    cown: NonNull<CownHeader>,
    head: NonNull<Slot>,
    ready: &mut impl Ready,
) {
    // SAFETY: as in `grant_alone`.
    unsafe {
        let header = cown.as_ref();
        if !header.is_interrupted() && !head.as_ref().member().is_read() {
            grant_exclusive(header, head, ready);
        } else {
            grant_alone(cown, head, ready);
        }
    }
}

/// Hands the token of the queue to an exclusive request. (A group is held as a whole, so those that
/// read its members are exclusive.)
///
/// # Safety
/// The caller has the token, `head` is the head, and no reader of the cown is left.
#[inline(always)]
unsafe fn grant_exclusive(header: &CownHeader, head: NonNull<Slot>, ready: &mut impl Ready) {
    // SAFETY: a queued request is live.
    let member = unsafe { head.as_ref() }.member();
    if member.is_multi() {
        // SAFETY: the member says that the slot lies in a `Multi`, which misses this grant.
        unsafe { Multi::resolve_one(Multi::of(head), ready) };
    } else {
        let home = header.home_of_queue();
        // SAFETY: the member says that the slot lies in a one-cown behaviour: it is ready now.
        ready.ready(unsafe { single_task(head) }, home);
    }
}

/// The task that a request in a leader's queue belongs to, with its halves, if it holds the group and
/// nothing else.
///
/// # Safety
/// The caller has the token, and the request is queued.
pub(crate) unsafe fn task_in_group(slot: NonNull<Slot>) -> Option<(TaskPtr, InGroup)> {
    // SAFETY: a queued request is live, and the member says what it lies in.
    unsafe {
        let task = match slot.as_ref().member().is_multi() {
            true => Multi::of(slot).cast(),
            false => single_task(slot),
        };
        task.as_ref().vtable.in_group.map(|halves| (task, halves))
    }
}

/// Grants a run of readers. Each leaves the queue at once, so that the token can move on to the
/// request behind it; what remains of a reader is its count in the header.
///
/// # Safety
/// As [`grant`], and `head` is a reader.
#[cold]
unsafe fn grant_readers(
    cown: NonNull<CownHeader>,
    mut head: NonNull<Slot>,
    ready: &mut impl Ready,
) {
    // SAFETY: queued or counted requests keep the cown alive for as long as we use it: the last
    // use is `leave`, before the reader that it counts can end.
    let header = unsafe { cown.as_ref() };
    loop {
        header.add_reader();
        simulated::point();
        // SAFETY: we have the token, and `head` is the head.
        let next = unsafe { leave(header, head) };
        // SAFETY: its behaviour misses this grant, and has not run.
        unsafe { head.as_ref() }.reads();
        // SAFETY: the slot lies in a `Multi` (all readers do), which misses this grant. It may run
        // and be freed from here on.
        unsafe { Multi::resolve_one(Multi::of(head), ready) };
        let Some(next) = next else { return };
        // SAFETY: the token is with `next`, which is live, and keeps the cown alive.
        if !unsafe { next.as_ref() }.member().is_read() || header.is_interrupted() {
            if claim_from_readers(header, next) {
                // SAFETY: no readers are left, and we have the token.
                unsafe { grant_alone(cown, next, ready) };
            }
            return;
        }
        head = next;
    }
}

/// Leaves the token, for the exclusive request `head`, with the last reader. Returns true if there
/// is none left: the caller has the token still.
#[cold]
fn claim_from_readers(header: &CownHeader, head: NonNull<Slot>) -> bool {
    // ORDERING: Relaxed. Published by the addition below.
    header.waiter.store(head.as_ptr().cast(), Ordering::Relaxed);
    simulated::point();
    // ORDERING: AcqRel. Release publishes `waiter` to the last reader (acquire in `drop_reader`).
    // Acquire pairs with the release there, for the case that the last one has just gone.
    if header.readers.fetch_add(WAITER, Ordering::AcqRel) != 0 {
        return false;
    }
    // ORDERING: Relaxed. No reader is left, and only the token holder raises the count.
    header.readers.store(0, Ordering::Relaxed);
    true
}

/// Ends a reader. The last one passes the token to the exclusive request that waits, if any.
///
/// # Safety
/// The caller is a granted reader of the cown that has not ended, and does not use the cown after
/// this.
pub(crate) unsafe fn drop_reader(cown: NonNull<CownHeader>, ready: &mut impl Ready) {
    // SAFETY: our count keeps the cown alive up to the subtraction.
    let header = unsafe { cown.as_ref() };
    // ORDERING: AcqRel. Release orders our reads before the writes of the next exclusive holder
    // (acquire in `grant`, `claim_from_readers` and `take_free` or, through the last reader, here).
    // Acquire pairs with the release in `claim_from_readers`, for `waiter`, and with that of the
    // readers that ended before, for the holder to whom the last one passes the token.
    if header.readers.fetch_sub(ONE_READER, Ordering::AcqRel) != ONE_READER | WAITER {
        return;
    }
    // We were the last, and a request waits: the token is ours, and keeps the cown alive.
    simulated::point();
    // ORDERING: Relaxed, both. The token holder is alone with the two words.
    header.readers.store(0, Ordering::Relaxed);
    let waiter = header.waiter.load(Ordering::Relaxed).cast::<Slot>();
    // SAFETY: the waiter is the head of the queue, and no reader is left.
    unsafe { grant_alone(cown, NonNull::new_unchecked(waiter), ready) };
}
