//! Empty requests: appended by an interrupt to bring the token to the state when nothing else does.

use std::ptr::NonNull;

use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::queue::release::release_to_next;
use crate::queue::requested_cown::RequestedCown;
use crate::queue::single_block;
use crate::queue::single_block::{Single, single_task};
use crate::runtime_ids::RuntimeId;
use crate::task::{RunContext, TaskPtr, TaskVTable};

static VTABLE: TaskVTable = TaskVTable::new(run, single_block::link, || "a call");

/// Returns the functions of an empty request's task.
pub(super) fn vtable() -> &'static TaskVTable {
    &VTABLE
}

/// Returns the task of a request, if that is an empty one.
///
/// # Safety
/// The request is queued on a cown that is in no group.
#[inline]
pub(super) unsafe fn task_of(slot: LiveSlot) -> Option<TaskPtr> {
    // SAFETY: a queued request is live; one that is not part of a larger behaviour is in a single.
    unsafe {
        let task = slot.slot().member().is_single().then(|| single_task(slot))?;
        std::ptr::eq(task.as_ref().vtable, &raw const VTABLE).then_some(task)
    }
}

/// Allocates an empty request for the queue of a cown that is in no group.
pub(super) fn allocate(cown: LiveCown) -> NonNull<Single<()>> {
    Single::allocate(RequestedCown::exclusive(cown), &VTABLE, ())
}

/// Appends one.
///
/// # Safety
/// The cown is alive, and in no group.
pub(super) unsafe fn append(cown: LiveCown) {
    // SAFETY: this thread owns the new node; the cown is alive and in no group.
    unsafe { Single::spawn(allocate(cown)) };
}

/// If the head is an empty request, takes it out of its queue without running it, and returns what
/// becomes ready. Otherwise returns the head.
///
/// # Safety
/// The caller has the token of the cown, which has no readers, and `head` is the head of its queue.
/// The token is given away unless the head is returned.
pub(super) unsafe fn pass_over(
    cown: LiveCown,
    head: LiveSlot,
    home: RuntimeId,
) -> Result<Option<TaskPtr>, LiveSlot> {
    // SAFETY: the head of the queue is queued, and holds the cown with the token.
    unsafe {
        let task = task_of(head).ok_or(head)?;
        Ok(leave(task, cown, home))
    }
}

/// Frees an empty request whose queue has gone on to the next one.
///
/// # Safety
/// The slot is that of an empty request, which the caller owns.
pub(super) unsafe fn dismantle(slot: LiveSlot) {
    // SAFETY: an empty request is in a single without a body, which the caller owns.
    unsafe { Single::dismantle(single_task(slot).cast::<Single<()>>()) };
}

/// # Safety
/// The task is that of an empty request, and is run once.
unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    // SAFETY: the task is that of an empty request and runs once, so it holds the cown.
    unsafe {
        let slot = Single::slot(task.cast::<Single<()>>());
        leave(task, slot.slot().member().live_cown(), context.home)
    }
}

/// # Safety
/// The task is that of an empty request that holds this cown.
unsafe fn leave(task: TaskPtr, cown: LiveCown, home: RuntimeId) -> Option<TaskPtr> {
    let node = task.cast::<Single<()>>();
    // SAFETY: the task holds the cown; this thread owns the node after it has left the queue.
    unsafe {
        let successor = release_to_next::<false>(Single::slot(node), cown, &home);
        Single::dismantle(node);
        successor
    }
}
