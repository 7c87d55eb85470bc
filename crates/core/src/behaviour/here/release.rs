//! How cowns are given back after an inline behaviour.

use crate::queue::dequeue::leave_alone;
use crate::queue::header::CownHeader;
use crate::queue::live_slot::LiveSlot;
use crate::queue::release::{release, release_exclusive};
use crate::queue::slot::Slot;
use crate::sched::DeferredReady;
use crate::sched::ReadySink;

/// Releases the cowns of the slots, which have successors or cannot be used here.
///
/// # Safety
/// See [`release_all`].
#[cold]
#[inline(never)]
pub(super) unsafe fn release_slowly(slots: &[Slot], ready: &mut impl ReadySink) {
    // SAFETY: the conditions are those of `release_all`.
    unsafe { release_all(slots, ready) };
}

/// Releases the cowns of the slots.
///
/// # Safety
/// The slots hold their cowns. Afterwards they are in no queue.
#[inline]
pub(super) unsafe fn release_all(slots: &[Slot], ready: &mut impl ReadySink) {
    let mut deferring = DeferredReady::new(ready);
    for slot in slots {
        // SAFETY: the slot still holds its cown, and is released once; it is live while borrowed.
        unsafe { release(LiveSlot::from_ref(slot), &mut deferring) };
    }
    deferring.finish();
}

/// Releases a cown that was held exclusively, and is in no group.
///
/// # Safety
/// See [`release_all`]; the header is that of the cown.
#[inline(always)]
pub(super) unsafe fn release_one(slot: &Slot, header: &CownHeader, ready: &mut impl ReadySink) {
    // SAFETY: the slot holds the cown exclusively, so it is the head and this thread has the token.
    // It is live while it is borrowed.
    unsafe {
        let slot = LiveSlot::from_ref(slot);
        if !leave_alone(header, slot) {
            release_exclusive_to_others(slot, ready);
        }
    }
}

/// The same if there is a successor.
///
/// # Safety
/// See [`release_exclusive`].
#[cold]
#[inline(never)]
unsafe fn release_exclusive_to_others(slot: LiveSlot, ready: &mut impl ReadySink) {
    // SAFETY: the conditions are those of `release_exclusive`.
    unsafe { release_exclusive(slot, ready) };
}

/// Releases two cowns that were held exclusively, and are in no group.
///
/// # Safety
/// See [`release_all`]; the headers are those of the cowns.
#[inline(always)]
pub(super) unsafe fn release_two(
    slots: &[Slot; 2],
    headers: [&CownHeader; 2],
    ready: &mut impl ReadySink,
) {
    let [a, b] = slots;
    // SAFETY: the slots hold the cowns exclusively, so they are the heads and this thread has the
    // tokens. They are live while they are borrowed.
    unsafe {
        if !leave_alone(headers[0], LiveSlot::from_ref(a)) {
            release_slowly(slots, ready);
        } else {
            release_one(b, headers[1], ready);
        }
    }
}
