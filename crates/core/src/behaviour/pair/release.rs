//! How a pair releases its cowns: the same code for pairs of all types.

use super::slots::slots;
use crate::path_coverage::FastPath;
use crate::queue::dequeue::leave_last;
use crate::queue::live_slot::LiveSlot;
use crate::queue::multi_block::LiveMulti;
use crate::queue::release::release_exclusive;
use crate::runtime_ids::RuntimeId;
use crate::sched::{DeferredReady, ReadySink, Successor, offer_to_worker};
use crate::task::TaskPtr;

/// Releases the cowns of a pair; returns the task that follows it on its own runtime. The same code
/// for pairs of all types. All its calls are tail calls, so that it saves no registers.
///
/// # Safety
/// The behaviour holds its cowns. Afterwards the caller owns its block.
#[inline(never)]
pub(super) unsafe fn release(node: LiveMulti, home: RuntimeId) -> Option<TaskPtr> {
    // SAFETY: the behaviour holds its cowns exclusively, and each slot is released once. A
    // behaviour that becomes ready belongs to this thread, and holds its cowns.
    unsafe {
        let [a, b] = slots(node);
        let Ok(first) = release_plainly(a) else { return release_with_care(node, home) };
        let Ok(second) = release_plainly(b) else {
            return release_second_with_care(b, first, home);
        };
        FastPath::PairReleased.take();
        match (first, second) {
            (None, None) => None,
            (Some(only), None) | (None, Some(only)) if only.is_plainly_at(home) => {
                Some(only.task())
            }
            _ => hand_on(first, second, home),
        }
    }
}

/// Releases one cown if it has no successor, or one on several cowns that needs no further checks;
/// returns the successor if it is ready now. Otherwise returns an error, without effect.
///
/// # Safety
/// See [`release_exclusive`]; the cown is in no group.
#[inline(always)]
unsafe fn release_plainly(slot: LiveSlot) -> Result<Option<LiveMulti>, ()> {
    // SAFETY: the cown is held exclusively, so the request is the head and this thread has the
    // token. The token then belongs to the new head, if there is one: there are no readers, as in
    // `pass_on`.
    unsafe {
        let header = slot.slot().member().header();
        let Some(next) = slot.successor() else {
            return if leave_last(header, slot) { Ok(None) } else { Err(()) };
        };
        if header.is_interrupted() || !next.slot().member().is_exclusive_in_multi() {
            return Err(());
        }
        let behaviour = LiveMulti::of(next);
        Ok(behaviour.count_grant().then_some(behaviour))
    }
}

/// Like [`release`], in all cases.
///
/// # Safety
/// See [`release`].
#[inline(never)]
unsafe fn release_with_care(node: LiveMulti, home: RuntimeId) -> Option<TaskPtr> {
    let mut successor = Successor::new(home);
    let mut deferring = DeferredReady::new(&mut successor);
    // SAFETY: the node is that of a pair.
    for slot in unsafe { slots(node) } {
        // SAFETY: the cown is held exclusively; the cowns of a pair are in no group.
        unsafe { release_exclusive(slot, &mut deferring) };
    }
    deferring.finish();
    successor.take()
}

/// The same for the second cown alone, after the first one's release, which may have made a
/// behaviour ready.
///
/// # Safety
/// See [`release_exclusive`]; the cown is in no group. The caller owns the behaviour and passes it
/// on here.
#[inline(never)]
unsafe fn release_second_with_care(
    second: LiveSlot,
    ready: Option<LiveMulti>,
    home: RuntimeId,
) -> Option<TaskPtr> {
    let mut successor = Successor::new(home);
    let mut deferring = DeferredReady::new(&mut successor);
    // SAFETY: the caller owns the ready behaviour, and the second cown is held exclusively.
    unsafe {
        if let Some(behaviour) = ready {
            deferring.ready(behaviour.task(), behaviour.home());
        }
        release_exclusive(second, &mut deferring);
    }
    deferring.finish();
    successor.take()
}

/// Passes on what a pair's release has made ready; returns the first that belongs to the runtime.
///
/// # Safety
/// The caller owns the behaviours. It holds nothing any more, so foreign code may run.
#[inline(never)]
unsafe fn hand_on(
    first: Option<LiveMulti>,
    second: Option<LiveMulti>,
    home: RuntimeId,
) -> Option<TaskPtr> {
    // The common case of two.
    if let (Some(first), Some(second)) = (first, second)
        // SAFETY: they are ready, and not passed on yet.
        && unsafe { first.is_plainly_at(home) && second.is_plainly_at(home) }
        && offer_to_worker(second.task(), home)
    {
        FastPath::PairHandedOn.take();
        return Some(first.task());
    }
    // SAFETY: the caller owns the behaviours, and holds nothing.
    unsafe { hand_on_with_care(first, second, home) }
}

/// The same, for any runtimes.
///
/// # Safety
/// See [`hand_on`].
#[cold]
#[inline(never)]
unsafe fn hand_on_with_care(
    first: Option<LiveMulti>,
    second: Option<LiveMulti>,
    home: RuntimeId,
) -> Option<TaskPtr> {
    let mut successor = Successor::new(home);
    for behaviour in [first, second].into_iter().flatten() {
        // SAFETY: the caller owns the behaviour, which has cowns and was not passed on yet.
        let home = unsafe { behaviour.home() };
        successor.ready(behaviour.task(), home);
    }
    successor.take()
}
