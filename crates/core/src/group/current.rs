//! The group that the current thread holds and into whose ring it may spawn.

use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

use crate::queue::group_header::Leader;
use crate::sched::runtime_shared;
use crate::sched::worker::Worker;
use crate::task::{RunContext, RunMode};

thread_local! {
    static HELD: Cell<*mut Leader> = const { Cell::new(null_mut()) };
}

/// Returns whether the thread holds this group.
#[inline]
pub(super) fn is(leader: NonNull<Leader>) -> bool {
    std::ptr::eq(HELD.get(), leader.as_ptr())
}

/// Returns the worker that runs the task, if there is one. In deterministic mode there is none: a
/// simulated thread may be suspended in the middle of a behaviour, and another continue with the
/// same thread-locals. There is also none if the task is left over from a stopped runtime, and run
/// by some other thread.
#[inline]
pub(super) fn worker<'a>(context: &RunContext) -> Option<&'a Worker> {
    crate::sched::context::worker().filter(|worker| worker.id() == context.home)
}

/// Returns how the group's behaviours must run now.
#[inline]
pub(super) fn context<'a>(worker: Option<&Worker>, begun: &'a RunContext) -> &'a RunContext {
    match worker {
        Some(worker) => worker.run_context(),
        // A cancelled task stays cancelled, whatever the runtime's current mode.
        None if begun.mode() == RunMode::Cancel => begun,
        None => runtime_shared::get(begun.home).run_context(),
    }
}

/// The number of behaviours that may follow each other without a worker. (There is no limit for
/// cancelled ones, since no other task waits for the thread.)
pub(super) fn throughput(context: &RunContext) -> u32 {
    match context.mode() {
        RunMode::Run => runtime_shared::get(context.home).config.throughput,
        RunMode::Cancel => u32::MAX,
    }
}

/// Allows the thread to use the ring of a group that it holds, until dropped.
pub(super) struct RingAccess(*mut Leader);

impl RingAccess {
    /// Allows it if the thread is a worker doing its own work. Otherwise everything goes through
    /// the queue.
    #[inline]
    pub(super) fn enter(leader: NonNull<Leader>, worker: Option<&Worker>) -> Self {
        let held = if worker.is_some() { leader.as_ptr() } else { HELD.get() };
        Self(HELD.replace(held))
    }

    /// Ends it, before the group is given away.
    #[inline]
    pub(super) fn end(self) {}
}

impl Drop for RingAccess {
    #[inline]
    fn drop(&mut self) {
        HELD.set(self.0);
    }
}
