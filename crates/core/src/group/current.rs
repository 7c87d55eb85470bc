//! The group that the current thread holds and may put behaviours into the ring of.

use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

use crate::queue::group_header::Leader;
use crate::sched::shared;
use crate::sched::worker::Worker;
use crate::task::{Mode, RunContext};

thread_local! {
    static HELD: Cell<*mut Leader> = const { Cell::new(null_mut()) };
}

/// Whether the thread holds this group.
#[inline]
pub(super) fn is(leader: NonNull<Leader>) -> bool {
    std::ptr::eq(HELD.get(), leader.as_ptr())
}

/// The worker that runs the task, if one does. None does in deterministic mode: a simulated thread may
/// be left in the middle of a behaviour, and another go on with the same thread-locals. Nor does one
/// if the task is one of those that a stopped runtime has left, to whoever came by.
#[inline]
pub(super) fn worker<'a>(context: &RunContext) -> Option<&'a Worker> {
    crate::sched::context::worker().filter(|worker| worker.id() == context.home)
}

/// How the group's behaviours are to be run now.
#[inline]
pub(super) fn context<'a>(worker: Option<&Worker>, begun: &'a RunContext) -> &'a RunContext {
    match worker {
        Some(worker) => worker.run_context(),
        // What is cancelled stays so, whatever the runtime is about.
        None if begun.mode() == Mode::Cancel => begun,
        None => shared::get(begun.home).run_context(),
    }
}

/// How many behaviours may follow each other where no worker runs them. (What is cancelled is so in one
/// go: nobody waits for the thread.)
pub(super) fn throughput(context: &RunContext) -> u32 {
    match context.mode() {
        Mode::Run => shared::get(context.home).config.throughput,
        Mode::Cancel => u32::MAX,
    }
}

/// The time for which the thread may use the ring of a group that it holds.
pub(super) struct Current(*mut Leader);

impl Current {
    /// Begins it, if the thread is a worker at its own work. Otherwise all goes through the queue.
    #[inline]
    pub(super) fn enter(leader: NonNull<Leader>, worker: Option<&Worker>) -> Self {
        let held = if worker.is_some() { leader.as_ptr() } else { HELD.get() };
        Self(HELD.replace(held))
    }

    /// Ends it, before the group is given away.
    #[inline]
    pub(super) fn end(self) {}
}

impl Drop for Current {
    #[inline]
    fn drop(&mut self) {
        HELD.set(self.0);
    }
}
