//! Enqueues the one request of a behaviour: appends it to its queue and, if that was empty, grants
//! it. See README.md, "Append".

use std::ptr::NonNull;

use super::append::{append_begun, append_one, append_single};
use super::grant::grant;
use super::requested_cown::RequestedCown;
use super::single_block::{Single, request, single_task};
use crate::path_coverage::FastPath;
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::runtime_ids::RuntimeId;
use crate::sched::worker::Worker;
use crate::sched::{at_work_in, schedule};
use crate::task::TaskPtr;

impl<B> Single<B> {
    /// Spawns the node's task on its cown, which is in no group.
    ///
    /// # Safety
    /// The caller owns the node and gives it away. The cown is alive.
    pub(crate) unsafe fn spawn(node: NonNull<Self>) {
        // SAFETY: the caller owns the node, whose request is not queued; the cown is alive and in
        // no group.
        unsafe { enqueue_single(Self::slot(node)) };
    }
}

/// Appends the request of a single to its cown's queue; schedules the task if the queue was empty.
///
/// # Safety
/// The request is unqueued, and the caller gives it away. The cown is in no group and alive: the
/// caller has a handle, or this very request, its last, has not run yet.
unsafe fn enqueue_single(slot: LiveSlot) {
    // SAFETY: the caller owns the unqueued request, and the cown is alive until it has run.
    unsafe {
        let member = (*slot.as_ptr()).begin();
        let cown = member.live_cown();
        // A hint, until this thread has the token.
        let home = cown.header().home_of_queue();
        enqueue::<false>(slot, member, cown, || home, |task| schedule(task, home));
    }
}

/// Like [`enqueue_single`], on any thread. A worker has a shorter way,
/// [`enqueue_single_on_worker`].
///
/// # Safety
/// See [`enqueue_single`].
#[inline(never)]
pub(crate) unsafe fn enqueue_single_anywhere(slot: LiveSlot) {
    // SAFETY: the conditions are those of `enqueue_single`.
    unsafe {
        let home = slot.slot().member().header().home();
        at_work_in(home, || enqueue_single(slot));
    }
}

/// Like [`enqueue_single`], on a worker, for a task in a [`Single`] whose request was
/// [begun](Slot::beginning) for this member of this cown. The rare cases are calls at the end, so
/// the common one is a few instructions, fewer than a call would take.
///
/// # Safety
/// See [`enqueue_single`].
#[inline(always)]
pub(crate) unsafe fn enqueue_single_on_worker(
    worker: &Worker,
    task: TaskPtr,
    member: RequestedCown,
    cown: LiveCown,
) {
    // SAFETY: the conditions are those of `enqueue_single`, and the request was begun for this
    // member.
    unsafe {
        let slot = request(task);
        enqueue::<true>(
            slot,
            member,
            cown,
            || worker.id(),
            |task| {
                FastPath::SingleFree.take();
                worker.push(task);
            },
        );
    }
}

/// Appends a request to its cown's queue. If the queue was empty, the cown's home is this runtime
/// and no further checks are needed, the task is ready, and `run` receives it; otherwise it is
/// granted the general way.
///
/// # Safety
/// See [`enqueue_single`]; the request was begun for this member, whose cown it is.
#[inline(always)]
unsafe fn enqueue<const BY_WORKER: bool>(
    slot: LiveSlot,
    member: RequestedCown,
    cown: LiveCown,
    home: impl FnOnce() -> RuntimeId,
    run: impl FnOnce(TaskPtr),
) {
    // SAFETY: the request was begun and is unqueued, and the cown is alive. If the queue was empty,
    // the request in it keeps the cown alive while this thread has the token.
    unsafe {
        let header = cown.header();
        if !append_begun::<BY_WORKER>(header, slot, member) {
            return;
        }
        if !header.is_plainly_free(home()) {
            return grant_with_care(cown, slot);
        }
        run(single_task(slot));
    }
}

/// Grants a cown that needs further checks. Its queue was empty, so this also clears the overload.
///
/// # Safety
/// See [`grant`].
#[cold]
#[inline(never)]
unsafe fn grant_with_care(cown: LiveCown, slot: LiveSlot) {
    // SAFETY: the caller has the token; the request, which is not granted yet, keeps the cown
    // alive.
    unsafe {
        cown.header().flags.end_overload();
        grant(cown, slot, &mut schedule);
    }
}

/// Like [`spawn_request`], on any thread.
///
/// # Safety
/// See [`spawn_request`]; the leader is alive.
pub(crate) unsafe fn spawn_from_anywhere(leader: LiveCown, slot: LiveSlot) {
    let home = leader.header().home_of_queue();
    // SAFETY: the conditions are those of `spawn_request`.
    at_work_in(home, || unsafe { spawn_request(leader, slot) });
}

/// Appends the one request of a behaviour on members of one group.
///
/// # Safety
/// The caller owns the request and gives it away; its behaviour misses nothing else. The member of
/// the leader's group that it names is alive, at least until the request has run.
pub(crate) unsafe fn spawn_request(leader: LiveCown, slot: LiveSlot) {
    // SAFETY: the caller owns the unqueued request, and its member keeps the leader alive. If the
    // queue was empty, the request keeps the leader alive.
    unsafe {
        let append = if slot.slot().member().is_multi() { append_one } else { append_single };
        if append(leader.header(), slot) {
            grant(leader, slot, &mut schedule);
        }
    }
}
