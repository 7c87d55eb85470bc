//! Claims free cowns without waiting. See README.md, "Claiming free cowns".

use super::dequeue::leave;
use super::grant::grant;
use super::slot::Slot;
use crate::path_coverage::FastPath;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::live_slot::LiveSlot;
use crate::sched::{DeferredReady, schedule};
use crate::simulated;

/// Takes the cowns of all slots exclusively if all of them are free; otherwise takes none.
///
/// The slots are then in their queues, like those of a behaviour that holds all its cowns.
///
/// # Safety
/// The slots are unqueued, and their cowns distinct and alive, no two of them in one group. On
/// success the slots do not move until they are released.
#[inline]
pub(crate) unsafe fn take_all<'a>(slots: impl Iterator<Item = &'a Slot> + Clone) -> bool {
    let in_use = |slot: &Slot| slot.member().header().queue().is_in_use(slot.member().is_read());
    if slots.clone().any(in_use) {
        return false;
    }
    for (index, slot) in slots.clone().enumerate() {
        // SAFETY: the cown is alive and the slot unqueued, as this function requires.
        match unsafe { take(slot) } {
            ClaimResult::Free => {}
            other => {
                let taken = index + usize::from(other == ClaimResult::InUse);
                // SAFETY: the first `taken` slots hold their cowns.
                unsafe { give_back(slots.take(taken)) };
                return false;
            }
        }
    }
    if !is_first_everywhere(slots.clone()) {
        // SAFETY: all slots hold their cowns.
        unsafe { give_back(slots) };
        return false;
    }
    FastPath::ManyFree.take();
    true
}

/// The result of taking one cown.
#[derive(PartialEq, Eq)]
enum ClaimResult {
    /// Taken.
    Free,
    /// Taken but not usable now: must be given back.
    InUse,
    /// Not taken.
    No,
}

/// Takes the cown of one slot exclusively if its queue is empty and `accept`, which is called with
/// the token, agrees.
///
/// # Safety
/// See [`take_all`]; `header` is the cown's, which is in no group.
#[inline(always)]
pub(crate) unsafe fn take_one_if(
    slot: &Slot,
    header: &CownHeader,
    accept: impl FnOnce() -> bool,
) -> bool {
    // SAFETY: the slot is unqueued; a cown outside of groups has a queue of its own.
    if !unsafe { try_take(header, slot) } {
        return false;
    }
    if accept() {
        return true;
    }
    // SAFETY: the slot has just taken its cown.
    unsafe { give_back(std::iter::once(slot)) };
    false
}

/// The same for two cowns; see [`take_all`].
///
/// # Safety
/// See [`take_all`]; `headers` are the cowns', which are in no group.
#[inline(always)]
pub(crate) unsafe fn take_two_if(
    slots: [&Slot; 2],
    headers: [&CownHeader; 2],
    accept: impl FnOnce() -> bool,
) -> bool {
    // SAFETY: the slots are unqueued; a cown outside of groups has a queue of its own.
    if !unsafe { try_take(headers[0], slots[0]) } {
        return false;
    }
    // SAFETY: as for the first; the cowns are distinct.
    let has_both = unsafe { try_take(headers[1], slots[1]) };
    // As in `is_first_everywhere`.
    if has_both && is_last(headers[0], slots[0]) && accept() {
        return true;
    }
    // SAFETY: these slots have taken their cowns.
    unsafe { give_back(slots.into_iter().take(1 + usize::from(has_both))) };
    false
}

/// Takes one cown if its queue is empty and, unless it is for reading, it has no readers.
///
/// # Safety
/// The cown is alive, and the slot unqueued.
#[inline]
unsafe fn take(slot: &Slot) -> ClaimResult {
    let member = slot.member();
    let header = member.header().queue();
    // SAFETY: the slot is unqueued, and the header has the queue of its cown.
    if !unsafe { try_take(header, slot) } {
        return ClaimResult::No;
    }
    if is_usable(header, member.is_read()) { ClaimResult::Free } else { ClaimResult::InUse }
}

/// Puts a request into this queue if that is empty: the caller then has the token.
///
/// # Safety
/// The slot is unqueued, and for this queue. On success it does not move until it leaves the queue.
#[inline(always)]
unsafe fn try_take(header: &CownHeader, slot: &Slot) -> bool {
    // SAFETY: the slot is unqueued and, once in the queue, stays live and in place until it leaves
    // that, as this function requires.
    let is_ours = unsafe { header.tail.try_claim(LiveSlot::from_ref(slot)) };
    if is_ours {
        simulated::point();
    }
    is_ours
}

/// Returns whether the cown has no reader (unless it is for reading) and no interrupt. Exact for
/// the token holder.
#[inline(always)]
pub(crate) fn is_usable(header: &CownHeader, for_reading: bool) -> bool {
    // One load answers in most cases; only the token holder, which is this thread, could let a
    // reader in meanwhile.
    !header.has(Flags::READ | Flags::INTERRUPT)
        || (for_reading || header.is_unread()) && !header.is_interrupted()
}

/// Returns whether, when the last cown was taken, nothing was behind the slots in the other queues.
/// A thread behind one of them might have spawned on the last cown earlier, and its behaviour have
/// run there already: then the claim would come after that thread in one queue and before it in
/// another.
#[inline]
fn is_first_everywhere<'a>(slots: impl Iterator<Item = &'a Slot> + Clone) -> bool {
    let others = slots.clone().count().saturating_sub(1);
    slots.take(others).all(|slot| {
        let header = slot.member().header().queue();
        // The look does not move before the last exchange, since that acquires.
        is_last(header, slot)
    })
}

/// Returns whether a request is still the last of this queue.
#[inline(always)]
fn is_last(header: &CownHeader, slot: &Slot) -> bool {
    // SAFETY: the request is live while it is borrowed.
    header.tail.has_last(unsafe { LiveSlot::from_ref(slot) })
}

/// Gives back cowns that were taken and not used. The slots are as they were before.
///
/// # Safety
/// The slots are the heads of their queues, and the caller has the tokens.
#[cold]
unsafe fn give_back<'a>(taken: impl Iterator<Item = &'a Slot>) {
    let mut ready = schedule;
    let mut deferring = DeferredReady::new(&mut ready);
    for slot in taken {
        // SAFETY: the slot is the head of the queue, and the caller has the token; the slot keeps
        // the cown alive.
        unsafe {
            let cown = slot.member().queue();
            if let Some(next) = leave(cown.header(), LiveSlot::from_ref(slot)) {
                grant(cown, next, &mut deferring);
            }
        }
        slot.unlink();
        simulated::point();
    }
    deferring.finish();
}

/// Turns an exclusive hold into that of one reader.
///
/// # Safety
/// The slot is the head of the queue of its cown, which is in no group, and the caller has the
/// token.
#[cold]
pub(crate) unsafe fn become_reader(slot: &Slot) {
    let cown = slot.member().live_cown();
    // SAFETY: the cown is held. The counted reader keeps it alive afterwards.
    unsafe {
        cown.header().add_reader();
        simulated::point();
        if let Some(next) = leave(cown.header(), LiveSlot::from_ref(slot)) {
            grant(cown, next, &mut schedule);
        }
    }
}
