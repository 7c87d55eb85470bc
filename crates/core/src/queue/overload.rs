//! Whether a cown keeps up with those who send to it, as far as the scheduler sees that by the cown's tasks.
//! `sched/README.md`, "Giving way".

use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;

use super::slot::Slot;
use crate::queue::header::Flags;
use crate::queue::single::request;
use crate::task::{Backlog, TaskPtr};

/// Of a behaviour on one cown that is in no group.
pub(crate) static BACKLOG: Backlog = Backlog { queue: cown_of, look };

/// # Safety
/// As of [`Backlog::queue`], for a behaviour on one cown that is in no group.
unsafe fn cown_of(task: TaskPtr) -> *const () {
    // SAFETY: by the caller's word.
    unsafe { request(task).as_ref() }.member().header_ptr().as_ptr().cast()
}

/// Looks how many wait for the cown of a task, behind that: if they are `many` the cown is overloaded from here on, and
/// if they are less than a quarter of that, not any more.
///
/// Costs a look at each of so many requests, so it is done now and then only.
///
/// # Safety
/// As [`cown_of`]; the task is the caller's, so all that stand behind it stay where they are.
unsafe fn look(task: TaskPtr, many: u32) {
    // SAFETY: by the caller's word; a request that stands in its queue keeps the cown alive.
    unsafe {
        let slot = request(task);
        let flags = &slot.as_ref().member().header().flags;
        if flags.get(Flags::OVERLOADED) == 0 {
            if count(slot, many) == many {
                flags.note_overload();
            }
        } else if count(slot, many / 4) < many / 4 {
            flags.end_overload();
        }
    }
}

/// How many stand behind a request, up to a limit.
///
/// # Safety
/// The request is the head of its queue, and stays there.
unsafe fn count(head: NonNull<Slot>, limit: u32) -> u32 {
    let next = |slot: &NonNull<Slot>| {
        // ORDERING: Acquire pairs with the release in `link`: the request behind is seen as it was made, and as one whose
        // step is over, since it is linked after that. So what it has in `next` is null or a request, and no mark.
        // SAFETY: it stands in the queue, behind the head, and cannot be granted before that has left.
        NonNull::new(unsafe { slot.as_ref() }.next.load(Ordering::Acquire))
    };
    std::iter::successors(next(&head), next).take(limit as usize).count() as u32
}
