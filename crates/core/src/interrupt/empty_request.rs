//! Empty requests: what an interrupt appends where nothing else brings the token by, so that the state is interrupted.

use std::ptr::NonNull;

use crate::ids::RuntimeId;
use crate::queue::header::CownHeader;
use crate::queue::member::Member;
use crate::queue::release::release_to_next;
use crate::queue::single;
use crate::queue::single::{Single, single_task};
use crate::queue::slot::Slot;
use crate::task::{RunContext, TaskPtr, TaskVTable};

static VTABLE: TaskVTable = TaskVTable::new(run, single::link, || "a call");

/// An empty request, to be put into the queue of a cown that is in no group.
pub(super) fn allocate(cown: NonNull<CownHeader>) -> NonNull<Single<()>> {
    Single::allocate(Member::exclusive(cown), &VTABLE, ())
}

/// Puts one there.
///
/// # Safety
/// The cown is alive, and in no group.
pub(super) unsafe fn append(cown: NonNull<CownHeader>) {
    // SAFETY: fresh; the rest by the caller's word.
    unsafe { Single::spawn(allocate(cown)) };
}

/// Takes an empty request out of its queue without having it run, if that is what the head is; returns what becomes
/// ready. Else the head is given back.
///
/// # Safety
/// The caller has the token of the cown, nobody reads that, and `head` is the head of its queue. The token is given away
/// if the head is not given back.
pub(super) unsafe fn pass_over(
    cown: NonNull<CownHeader>,
    head: NonNull<Slot>,
    home: RuntimeId,
) -> Result<Option<TaskPtr>, NonNull<Slot>> {
    // SAFETY: a queued request is live; one that is no part of a larger behaviour lies in a one-cown behaviour.
    unsafe {
        if !head.as_ref().member().is_single() {
            return Err(head);
        }
        let task = single_task(head);
        if !std::ptr::eq(task.as_ref().vtable, &raw const VTABLE) {
            return Err(head);
        }
        Ok(leave(task, cown, home))
    }
}

/// # Safety
/// The task is that of an empty request, and is run once.
unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    // SAFETY: by the caller's word; so it holds the cown.
    unsafe {
        let slot = Single::slot(task.cast::<Single<()>>());
        leave(task, slot.as_ref().member().header_ptr(), context.home)
    }
}

/// # Safety
/// The task is that of an empty request, which holds this cown.
unsafe fn leave(task: TaskPtr, cown: NonNull<CownHeader>, home: RuntimeId) -> Option<TaskPtr> {
    let node = task.cast::<Single<()>>();
    // SAFETY: by the caller's word; the node is ours alone once it has left the queue.
    unsafe {
        let successor = release_to_next::<false>(Single::slot(node), cown, &home);
        Single::dismantle(node);
        successor
    }
}
