//! What a blocking thread runs.

use crate::task::{TaskPtr, name_of};

/// The work of a thread of the pool. Each job counts as outstanding work until it is done.
pub(super) enum PoolJob {
    /// A closure of the user.
    Closure(JobClosure),
    /// A ready task of a runtime on blocking threads.
    Task(TaskPtr),
}

/// A blocking job, and the name of its type.
pub(super) struct JobClosure {
    /// Called with whether it must run, or only be dropped.
    pub(super) run: Box<dyn FnOnce(bool) + Send>,
    pub(super) name: &'static str,
}

// SAFETY: a ready task may run on any thread, and is run by the thread that takes the job.
unsafe impl Send for PoolJob {}

impl PoolJob {
    pub(super) fn is_task(&self) -> bool {
        matches!(self, PoolJob::Task(_))
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            PoolJob::Closure(closure) => closure.name,
            // SAFETY: a queued task is ready.
            PoolJob::Task(task) => (unsafe { name_of(*task) })(),
        }
    }
}
