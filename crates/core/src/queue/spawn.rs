//! Requests that are spawned: each is appended to its queue and, if that was empty, granted. See README.md, "Append".

use std::ptr::NonNull;

use super::append::{append_begun, append_one, append_single};
use super::grant::grant;
use super::header::CownHeader;
use super::member::Member;
use super::single::{Single, request, single_task};
use super::slot::Slot;
use crate::ids::RuntimeId;
use crate::paths::Path;
use crate::sched::worker::Worker;
use crate::sched::{at_work_in, external, schedule};
use crate::task::TaskPtr;

impl<B> Single<B> {
    /// Spawns the node's task on its cown, which is in no group.
    ///
    /// # Safety
    /// The node is the caller's alone, and is given away. The cown is alive.
    pub(crate) unsafe fn spawn(node: NonNull<Self>) {
        // SAFETY: the node is ours; the rest by the caller's word.
        unsafe { launch(Self::slot(node)) };
    }
}

/// Puts the request of a one-cown task into its cown's queue; if the queue was empty the task is scheduled.
///
/// # Safety
/// The request is not queued, and is given away. The cown is alive: by a handle of the caller's, or until this very
/// request, its last, has run. It is in no group.
unsafe fn launch(slot: NonNull<Slot>) {
    // SAFETY: ours alone; the rest by the caller's word.
    unsafe {
        let member = (*slot.as_ptr()).begin();
        let cown = member.header_ptr();
        // A hint, until the cown is ours.
        let home = cown.as_ref().home_of_queue();
        enqueue::<false>(slot, member, cown, || home, |task| schedule(task, home));
    }
}

/// As [`launch`], by a thread that is no worker.
///
/// # Safety
/// As there.
#[inline(never)]
pub(crate) unsafe fn launch_externally(slot: NonNull<Slot>) {
    // SAFETY: by the caller's word.
    unsafe {
        let home = slot.as_ref().member().header().home();
        external::within(home, || launch(slot));
    }
}

/// The same by a worker, of a task in a [`Single`] whose request was made as [beginning](Slot::beginning) for this member
/// of this cown. What is rare is called, last of all: so it is a few instructions, fewer than a call of them would take
/// along with what a call forgets.
///
/// # Safety
/// As [`launch`].
#[inline(always)]
pub(crate) unsafe fn launch_by(
    worker: &Worker,
    task: TaskPtr,
    member: Member,
    cown: NonNull<CownHeader>,
) {
    // SAFETY: by the caller's word.
    unsafe {
        let slot = request(task);
        enqueue::<true>(
            slot,
            member,
            cown,
            || worker.id(),
            |task| {
                Path::SingleFree.take();
                worker.push(task);
            },
        );
    }
}

/// Puts a request into its cown's queue. If that was empty, the cown at home there, and nothing about it to be seen to, the
/// task is ready, and `run` has it; otherwise it is granted the usual way.
///
/// # Safety
/// As [`launch`], of a request that has begun, for this member, whose cown it is.
#[inline(always)]
unsafe fn enqueue<const BY_WORKER: bool>(
    slot: NonNull<Slot>,
    member: Member,
    cown: NonNull<CownHeader>,
    home: impl FnOnce() -> RuntimeId,
    run: impl FnOnce(TaskPtr),
) {
    // SAFETY: by the caller's word. When the queue was empty the request, which stands in it, keeps the cown alive
    // while we have the token.
    unsafe {
        let header = cown.as_ref();
        if !append_begun::<BY_WORKER>(header, slot, member) {
            return;
        }
        if !header.is_plainly_free(home()) {
            return grant_with_care(cown, slot);
        }
        run(single_task(slot));
    }
}

/// Grants a cown of which there is something to be seen to. Its queue was empty, so it is not overloaded any more.
///
/// # Safety
/// As [`grant`].
#[cold]
#[inline(never)]
unsafe fn grant_with_care(cown: NonNull<CownHeader>, slot: NonNull<Slot>) {
    // SAFETY: by the caller's word; the request that is not granted yet keeps the cown alive.
    unsafe {
        cown.as_ref().flags.end_overload();
        grant(cown, slot, &mut schedule);
    }
}

/// As [`spawn_request`], for a thread that may be no worker.
///
/// # Safety
/// As there; the leader is alive in any case.
pub(crate) unsafe fn spawn_from_anywhere(leader: NonNull<CownHeader>, slot: NonNull<Slot>) {
    // SAFETY: alive, by the caller's word.
    let home = unsafe { leader.as_ref() }.home_of_queue();
    // SAFETY: by the caller's word.
    at_work_in(home, || unsafe { spawn_request(leader, slot) });
}

/// Puts the one request of a behaviour on members of one group into the queue.
///
/// # Safety
/// The request is the caller's, and is given away; its behaviour misses nothing else. A member of the
/// leader's group for which it is is alive, until the request has run at least.
pub(crate) unsafe fn spawn_request(leader: NonNull<CownHeader>, slot: NonNull<Slot>) {
    // SAFETY: by the caller's word. If the queue was empty the request keeps the leader alive.
    unsafe {
        let append = if slot.as_ref().member().is_multi() { append_one } else { append_single };
        if append(leader.as_ref(), slot) {
            grant(leader, slot, &mut schedule);
        }
    }
}
