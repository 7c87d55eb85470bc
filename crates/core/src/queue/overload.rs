//! Detects cowns that do not keep up with their senders, from the requests behind the tasks that
//! the scheduler sees. See `sched/README.md`, "Giving way".

use crate::queue::header::Flags;
use crate::queue::live_slot::LiveSlot;
use crate::queue::single_block::request;
use crate::task::{TaskBacklog, TaskPtr};

/// The backlog of a single whose cown is in no group.
pub(crate) static BACKLOG: TaskBacklog = TaskBacklog { queue: cown_of, look };

/// # Safety
/// See [`TaskBacklog::queue`]; the task is that of a single whose cown is in no group.
unsafe fn cown_of(task: TaskPtr) -> *const () {
    // SAFETY: the task is that of a single, and live since it has not run.
    unsafe { request(task).slot() }.member().live_cown().as_ptr().cast()
}

/// Counts the requests behind a task: with at least `many` the cown becomes overloaded, and with
/// less than a quarter of that it no longer is.
///
/// Costs one load per counted request, so it is done only now and then.
///
/// # Safety
/// See [`cown_of`]; the caller owns the task, so all requests behind it stay in place.
unsafe fn look(task: TaskPtr, many: u32) {
    // SAFETY: the task is that of a single, which has not run; its queued request keeps the cown
    // alive.
    unsafe {
        let slot = request(task);
        let flags = &slot.slot().member().header().flags;
        if flags.get(Flags::OVERLOADED) == 0 {
            if count(slot, many) == many {
                flags.note_overload();
            }
        } else if count(slot, many / 4) < many / 4 {
            flags.end_overload();
        }
    }
}

/// Counts the requests behind a request, up to a limit.
///
/// # Safety
/// The request is that of a single, and stays in its queue meanwhile, where it waits or is granted.
unsafe fn count(head: LiveSlot, limit: u32) -> u32 {
    // SAFETY: the first request stays in its queue, and so does everything behind it. It is in no
    // step, and who has linked itself to another one has ended its own.
    let next = |slot: &LiveSlot| unsafe { slot.successor() };
    std::iter::successors(next(&head), next).take(limit as usize).count() as u32
}
