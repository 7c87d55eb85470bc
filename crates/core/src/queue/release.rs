//! Releases a cown: the *end* rule. See README.md, "Release".

use super::dequeue::{AfterHead, leave, next_or_end};
use super::grant::{drop_reader, grant, pass_on};
use super::tail::SeenTail;
use crate::path_coverage::FastPath;
use crate::queue::header::Flags;
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::queue::single_block::single_task;
use crate::runtime_ids::RuntimeId;
use crate::sched::ReadySink;
use crate::sched::Successor;
use crate::task::TaskPtr;

/// Ends a behaviour's hold on one cown, and grants the cown to the next request.
///
/// # Safety
/// The behaviour holds the cown through `slot`, and does not use it afterwards. The caller then
/// owns the slot exclusively.
#[inline]
pub(crate) unsafe fn release(slot: LiveSlot, ready: &mut impl ReadySink) {
    let member = slot.slot().member();
    let cown = member.live_cown();
    if let Some(leader) = cown.leader() {
        // SAFETY: the behaviour holds the group's member through `slot`, as this function requires.
        return unsafe { release_grouped(leader, slot, ready) };
    }
    if member.is_read() {
        // SAFETY: the behaviour is a granted reader, and ends here.
        return unsafe { drop_reader(cown, ready) };
    }
    // SAFETY: the hold is exclusive, and the cown is not a member of a group.
    unsafe { release_exclusive(slot, ready) };
}

/// The same for an exclusive hold on a cown that is in no group.
///
/// # Safety
/// See [`release`].
#[inline(always)]
pub(crate) unsafe fn release_exclusive(slot: LiveSlot, ready: &mut impl ReadySink) {
    // SAFETY: an exclusive holder has the token, and its request is the head. After `leave` the
    // token belongs to the new head.
    unsafe {
        let cown = slot.slot().member().live_cown();
        if let Some(next) = leave(cown.header(), slot) {
            pass_on(cown, next, ready);
        }
    }
}

/// The same for a single; returns the task that follows it on its own runtime. If the cown ends
/// with this behaviour, its state is dropped here (`AT_END`) or by the task that is returned.
///
/// # Safety
/// See [`release_exclusive`], for `cown`. With `AT_END`, nothing else is held, and foreign code may
/// run.
#[inline(always)]
pub(crate) unsafe fn release_to_next<const AT_END: bool>(
    slot: LiveSlot,
    cown: LiveCown,
    home: &RuntimeId,
) -> Option<TaskPtr> {
    // SAFETY: an exclusive holder has the token, and its request is the head; each branch gives the
    // token away once.
    unsafe {
        let header = cown.header();
        let Some(next) = slot.successor() else {
            let tail = header.tail.look_and_leave(slot).err()?;
            return release_last::<AT_END>(slot, tail, cown, home);
        };
        if next.slot().member().is_single() && header.flags.is_plain(*home, Flags::INTERRUPT) {
            FastPath::SinglePassedOn.take();
            return Some(single_task(next));
        }
        pass_on_to_any(cown, next, home)
    }
}

/// The same if the successor is about to link itself, or the cown ends. `tail` is that of the
/// queue, and not this request.
///
/// # Safety
/// See [`release_to_next`].
#[inline(never)]
unsafe fn release_last<const AT_END: bool>(
    slot: LiveSlot,
    tail: SeenTail,
    cown: LiveCown,
    home: &RuntimeId,
) -> Option<TaskPtr> {
    // SAFETY: the caller has the token, `slot` is the head, and `tail` comes from this cown. For
    // `AfterHead::End` the mark is that of the cown, and `slot` was the last request.
    unsafe {
        let next = match next_or_end(slot, tail) {
            AfterHead::End(last) if AT_END => {
                FastPath::EndedAtOnce.take();
                last.end(cown);
                return None;
            }
            AfterHead::End(last) => last.request(cown),
            AfterHead::Request(next) => next,
        };
        pass_on_to_any(cown, next, home)
    }
}

/// Passes the token on to any kind of request; returns what becomes ready on the runtime.
///
/// # Safety
/// See [`pass_on`].
#[inline(never)]
unsafe fn pass_on_to_any(cown: LiveCown, next: LiveSlot, home: &RuntimeId) -> Option<TaskPtr> {
    let mut successor = Successor::new(*home);
    // SAFETY: the caller has the token after an exclusive hold, and `next` is the head.
    unsafe { pass_on(cown, next, &mut successor) };
    successor.take()
}

/// The same for a member of a group: releases the group with the one request that stands for all of
/// the behaviour's members.
///
/// # Safety
/// See [`release`].
#[cold]
unsafe fn release_grouped(leader: LiveCown, slot: LiveSlot, ready: &mut impl ReadySink) {
    // SAFETY: the slot is live; if it is in the queue it is the head, and has the token.
    unsafe {
        if slot.slot().is_joined() {
            return;
        }
        if let Some(next) = leave(leader.header(), slot) {
            grant(leader, next, ready);
        }
    }
}
