//! What a thread is running, as the watchdog sees it.

use std::cell::Cell;
use std::mem::transmute;
use std::ptr::{null, null_mut};

use coact_sync::shim::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::code_sharing::SHARES_CODE;
use crate::current;
use crate::task::{RunContext, TaskPtr, name_of, run_task};

/// Written by its thread with two stores per task; no thread ever waits for it.
pub(crate) struct CurrentTask {
    /// Odd while a task runs. Incremented when one begins and when it ends, and by two where it
    /// goes on with another body.
    turn: AtomicU64,
    /// The [`TaskName`] of the task that is running, or ran last, or of its body.
    name: AtomicPtr<()>,
}

/// Returns the name of a task, or of a body.
type TaskName = fn() -> &'static str;

thread_local! {
    /// Where the innermost marked task of this thread is marked, and how deep its body is nested.
    static MARKED: Cell<(*const CurrentTask, u32)> = const { Cell::new((null(), 0)) };
}

/// Called where the task that this thread runs begins with another body, since a task that holds a
/// group runs many. Does nothing if the task is not marked, nor in a body inside its body.
#[cold]
pub fn goes_on_with(name: TaskName) {
    let (mark, nested) = MARKED.get();
    if mark.is_null() || nested != current::nested_bodies() {
        return;
    }
    // SAFETY: `run` is running on this very stack, with the mark borrowed.
    let mark = unsafe { &*mark };
    mark.end();
    mark.begin(name);
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
        Self { turn: AtomicU64::new(0), name: AtomicPtr::new(null_mut()) }
    }

    /// The thread begins a task. Called only by its thread.
    #[inline]
    fn begin(&self, name: TaskName) {
        // ORDERING: Release pairs with the Acquire of the same word in `look`: a thread that sees
        // this name sees that the previous turn is over.
        self.name.store(name as *mut (), Ordering::Release);
        // ORDERING: Relaxed load, as only this thread writes. Release pairs with the Acquire in
        // `look`: a thread that sees the turn sees its name.
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
        // Where closures share code, the name by type is the same for all.
        // SAFETY: a ready task is live, begins with its header, and has not run.
        self.begin(unsafe { if SHARES_CODE { name_of(task) } else { task.as_ref().vtable.name } });
        let outer = MARKED.replace((self, current::nested_bodies()));
        // SAFETY: the task is ready and run once, as this function requires.
        let next = unsafe { run_task(task, context) };
        MARKED.set(outer);
        self.end();
        next
    }

    /// Returns the running task, if there is one and none begins or ends at this moment.
    pub(in crate::sched) fn look(&self) -> Option<RunningTask> {
        // ORDERING: Acquire pairs with the Release in `begin`: the name is that of this turn or of
        // a later one.
        let turn = self.turn.load(Ordering::Acquire);
        // ORDERING: Acquire pairs with the Release in `begin`: if the name is that of a later turn,
        // the following load sees a later turn as well.
        let name = self.name.load(Ordering::Acquire);
        // ORDERING: Relaxed. The Acquire of the load above orders it.
        if turn.is_multiple_of(2) || self.turn.load(Ordering::Relaxed) != turn {
            return None;
        }
        // SAFETY: `begin` stored it before the turn became odd, from a `TaskName`.
        let name = unsafe { transmute::<*mut (), TaskName>(name) };
        Some(RunningTask { turn, name })
    }
}

#[cfg(all(test, loom))]
mod loom;
