//! What one thread runs right now, as the watchdog sees it.

use std::ptr::null_mut;

use coact_sync::shim::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::task::{RunContext, TaskPtr, TaskVTable, run_task};

/// Written by its thread with two stores a task, and never waited for by anybody.
pub(crate) struct CurrentTask {
    /// Odd while a task runs. It goes up when one begins and when it ends.
    turn: AtomicU64,
    /// The functions of the task that ran last, or runs.
    task: AtomicPtr<TaskVTable>,
}

/// A task that a thread was seen to run.
#[derive(Clone, Copy)]
pub(in crate::sched) struct Running {
    /// A task that runs at another time has another number.
    pub(super) turn: u64,
    pub(in crate::sched) name: fn() -> &'static str,
}

impl CurrentTask {
    pub(crate) fn new() -> Self {
        Self { turn: AtomicU64::new(0), task: AtomicPtr::new(null_mut()) }
    }

    /// The thread begins a task. Called by its thread only.
    #[inline]
    fn begin(&self, task: &'static TaskVTable) {
        // ORDERING: Release pairs with the acquire of the same word in `look`: who sees this task
        // sees that the turn of the one before is over.
        self.task.store(std::ptr::from_ref(task).cast_mut(), Ordering::Release);
        // ORDERING: Relaxed load, as only this thread writes. Release pairs with the acquire in
        // `look`: who sees the turn sees its task.
        self.turn.store(self.turn.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// The task has ended. Called by its thread only.
    #[inline]
    fn end(&self) {
        // ORDERING: Relaxed. The next `begin` publishes it together with the next task; and who sees
        // it late takes a task for running that has just ended.
        self.turn.store(self.turn.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Runs a task between a beginning and an end. Called by its thread only.
    ///
    /// # Safety
    /// The task is ready, and is run once.
    #[inline]
    pub(crate) unsafe fn run(&self, task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        // SAFETY: a ready task is live, and begins with its header.
        self.begin(unsafe { task.as_ref() }.vtable);
        // SAFETY: by the caller's contract.
        let next = unsafe { run_task(task, context) };
        self.end();
        next
    }

    /// The task that runs, if one does and none begins or ends at this moment.
    pub(in crate::sched) fn look(&self) -> Option<Running> {
        // ORDERING: Acquire pairs with the release in `begin`: the task is that of this turn or of
        // a later one.
        let turn = self.turn.load(Ordering::Acquire);
        // ORDERING: Acquire pairs with the release in `begin`: if the task is that of a later turn,
        // the load that follows sees a later turn, too.
        let task = self.task.load(Ordering::Acquire);
        // ORDERING: Relaxed. Ordered behind the load above by its acquire.
        if turn.is_multiple_of(2) || self.turn.load(Ordering::Relaxed) != turn {
            return None;
        }
        // SAFETY: stored by `begin` before the turn became odd, from a reference for ever.
        let task = unsafe { &*task };
        Some(Running { turn, name: task.name })
    }
}

#[cfg(all(test, loom))]
mod loom;
