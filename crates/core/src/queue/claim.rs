//! Taking cowns that are free, without waiting for anybody. See README.md, "Claiming free cowns".

use std::ptr::{self, NonNull, null_mut};

use coact_sync::shim::atomic::Ordering;

use super::grant::grant;
use super::leave::leave;
use super::slot::Slot;
use crate::queue::header::{CownHeader, Flags};
use crate::sched::{Deferring, schedule};
use crate::simulated;

/// Takes the cowns of all slots, exclusively, if all of them are free; takes none otherwise.
///
/// The slots then stand in their queues as those of a behaviour that has all its cowns.
///
/// # Safety
/// The slots are not queued and their cowns distinct and alive, no two of them of one group. Where this
/// succeeds the slots stay where they are until they are released.
#[inline]
pub(crate) unsafe fn take_all<'a>(slots: impl Iterator<Item = &'a Slot> + Clone) -> bool {
    let in_use = |slot: &Slot| {
        // SAFETY: alive, by the caller's word.
        unsafe { slot.member().header() }.queue().is_in_use(slot.member().is_read())
    };
    if slots.clone().any(in_use) {
        return false;
    }
    for (index, slot) in slots.clone().enumerate() {
        // SAFETY: alive, by the caller's word.
        match unsafe { take(slot) } {
            Taken::Free => {}
            other => {
                let taken = index + usize::from(other == Taken::InUse);
                // SAFETY: so many were taken.
                unsafe { give_back(slots.take(taken)) };
                return false;
            }
        }
    }
    if !is_first_everywhere(slots.clone()) {
        // SAFETY: all were taken.
        unsafe { give_back(slots) };
        return false;
    }
    true
}

/// What came of taking one cown.
#[derive(PartialEq, Eq)]
enum Taken {
    /// It is ours.
    Free,
    /// It is ours, but cannot be used now: it is to be given back.
    InUse,
    /// It is not ours.
    No,
}

/// Takes the cown of one slot, exclusively, if it is free.
///
/// # Safety
/// As [`take_all`], and the cown, whose header is given along, is in no group.
#[inline(always)]
pub(crate) unsafe fn take_one(slot: &Slot, header: &CownHeader) -> bool {
    if header.is_in_use(false) {
        return false;
    }
    // SAFETY: by the caller's word; a cown that is in no group has a queue of its own.
    match unsafe { take_from(header, slot, false) } {
        Taken::Free => true,
        Taken::No => false,
        Taken::InUse => {
            // SAFETY: taken.
            unsafe { give_back(std::iter::once(slot)) };
            false
        }
    }
}

/// Takes two cowns, exclusively, if both are free: as [`take_all`].
///
/// # Safety
/// As there; the cowns are in no group, and their headers are given along.
#[inline(always)]
pub(crate) unsafe fn take_two(slots: [&Slot; 2], headers: [&CownHeader; 2]) -> bool {
    let [a, b] = slots;
    if headers[0].is_in_use(false) || headers[1].is_in_use(false) {
        return false;
    }
    // SAFETY: by the caller's word; a cown that is in no group has a queue of its own.
    let taken = unsafe {
        match take_from(headers[0], a, false) {
            Taken::Free => match take_from(headers[1], b, false) {
                // ORDERING: Acquire. As in `is_first_everywhere`.
                Taken::Free if ptr::eq(headers[0].tail.load(Ordering::Acquire), a) => return true,
                Taken::Free | Taken::InUse => 2,
                Taken::No => 1,
            },
            Taken::InUse => 1,
            Taken::No => 0,
        }
    };
    // SAFETY: so many were taken.
    unsafe { give_back(slots.into_iter().take(taken)) };
    false
}

/// Takes one cown, if its queue is empty and, unless it is to be read, nobody reads it.
///
/// # Safety
/// The cown is alive, and the slot is not queued.
#[inline]
unsafe fn take(slot: &Slot) -> Taken {
    let member = slot.member();
    // SAFETY: by the caller's word.
    unsafe { take_from(member.header().queue(), slot, member.is_read()) }
}

/// The same, of a slot that is for the queue of this header, and is to be read or not.
///
/// # Safety
/// As [`take`].
#[inline(always)]
unsafe fn take_from(header: &CownHeader, slot: &Slot, is_read: bool) -> Taken {
    let tail = ptr::from_ref(slot).cast_mut();
    // ORDERING: AcqRel, as the exchange in `append`, whose place this takes.
    let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
    if header.tail.compare_exchange(null_mut(), tail, ok, failed).is_err() {
        return Taken::No;
    }
    simulated::point();
    // One look answers for most; only the token holder, this thread, could let a reader in meanwhile.
    let is_free = !header.has(Flags::READ | Flags::INTERRUPT)
        || (is_read || header.is_unread()) && !header.is_interrupted();
    if is_free { Taken::Free } else { Taken::InUse }
}

/// Whether, when the last cown had been taken, nobody had come behind us on any of the others.
/// Somebody who had might have spawned on the last one since, and have run there already: then we
/// would come after him on one cown and before him on another.
#[inline]
fn is_first_everywhere<'a>(slots: impl Iterator<Item = &'a Slot> + Clone) -> bool {
    let others = slots.clone().count().saturating_sub(1);
    slots.take(others).all(|slot| {
        // SAFETY: alive: our slot stands in its queue.
        let header = unsafe { slot.member().header() }.queue();
        // ORDERING: Acquire. Not read before the last exchange, which is an acquire too.
        ptr::eq(header.tail.load(Ordering::Acquire), slot)
    })
}

/// Gives cowns back that were taken and not used. The slots are as they were before.
///
/// # Safety
/// The slots hold their cowns by the token.
#[cold]
unsafe fn give_back<'a>(taken: impl Iterator<Item = &'a Slot>) {
    let mut ready = schedule;
    let mut deferring = Deferring::new(&mut ready);
    for slot in taken {
        // SAFETY: the slot is the head of the queue, and the token ours; it keeps the cown alive.
        unsafe {
            let cown = slot.member().queue_ptr();
            if let Some(next) = leave(cown.as_ref(), NonNull::from(slot)) {
                grant(cown, next, &mut deferring);
            }
        }
        // ORDERING: Relaxed. The slot is ours alone again.
        slot.next.store(null_mut(), Ordering::Relaxed);
        simulated::point();
    }
    deferring.finish();
}

/// Turns an exclusive hold into that of one reader among others.
///
/// # Safety
/// The slot holds its cown, which is in no group, by the token.
#[cold]
pub(crate) unsafe fn become_reader(slot: &Slot) {
    let cown = slot.member().header_ptr();
    // SAFETY: held. The reader that is counted keeps the cown alive afterwards.
    unsafe {
        cown.as_ref().add_reader();
        simulated::point();
        if let Some(next) = leave(cown.as_ref(), NonNull::from(slot)) {
            grant(cown, next, &mut schedule);
        }
    }
}
