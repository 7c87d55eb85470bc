//! What a thread is running, as the watchdog sees it.

use std::ptr::null_mut;

use coact_sync::shim::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::task::{RunContext, TaskPtr, TaskVTable, run_task};

/// Written by its thread with two stores per task; no thread ever waits for it.
pub(crate) struct CurrentTask {
    /// Odd while a task runs. Incremented when one begins and when it ends.
    turn: AtomicU64,
    /// The functions of the task that is running, or ran last.
    task: AtomicPtr<TaskVTable>,
}

/// A task that a thread was seen running.
#[derive(Clone, Copy)]
pub(in crate::sched) struct RunningTask {
    /// Differs between any two runs of tasks.
    pub(super) turn: u64,
    pub(in crate::sched) name: fn() -> &'static str,
}

impl CurrentTask {
    pub(crate) fn new() -> Self {
        Self { turn: AtomicU64::new(0), task: AtomicPtr::new(null_mut()) }
    }

    /// The thread begins a task. Called only by its thread.
    #[inline]
    fn begin(&self, task: &'static TaskVTable) {
        // ORDERING: Release pairs with the Acquire of the same word in `look`: a thread that sees
        // this task sees that the previous turn is over.
        self.task.store(std::ptr::from_ref(task).cast_mut(), Ordering::Release);
        // ORDERING: Relaxed load, as only this thread writes. Release pairs with the Acquire in
        // `look`: a thread that sees the turn sees its task.
        self.turn.store(self.turn.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// The task has ended. Called only by its thread.
    #[inline]
    fn end(&self) {
        // ORDERING: Relaxed. The next `begin` publishes it together with the next task; a thread
        // that sees it late takes a task that has just ended for a running one.
        self.turn.store(self.turn.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Runs a task between a beginning and an end. Called only by its thread.
    ///
    /// # Safety
    /// The task is ready, and is run once.
    #[inline]
    pub(crate) unsafe fn run(&self, task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        // SAFETY: a ready task is live, and begins with its header.
        self.begin(unsafe { task.as_ref() }.vtable);
        // SAFETY: the task is ready and run once, as this function requires.
        let next = unsafe { run_task(task, context) };
        self.end();
        next
    }

    /// Returns the running task, if there is one and none begins or ends at this moment.
    pub(in crate::sched) fn look(&self) -> Option<RunningTask> {
        // ORDERING: Acquire pairs with the Release in `begin`: the task is that of this turn or of
        // a later one.
        let turn = self.turn.load(Ordering::Acquire);
        // ORDERING: Acquire pairs with the Release in `begin`: if the task is that of a later turn,
        // the following load sees a later turn as well.
        let task = self.task.load(Ordering::Acquire);
        // ORDERING: Relaxed. The Acquire of the load above orders it.
        if turn.is_multiple_of(2) || self.turn.load(Ordering::Relaxed) != turn {
            return None;
        }
        // SAFETY: `begin` stored it before the turn became odd, from a `&'static` reference.
        let task = unsafe { &*task };
        Some(RunningTask { turn, name: task.name })
    }
}

#[cfg(all(test, loom))]
mod loom;
