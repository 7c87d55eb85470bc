//! What only one worker may do, and how that is called.

use std::fmt;
use std::ptr::NonNull;

use coact_sync::shim::atomic::{AtomicPtr, Ordering, fence};

use super::Worker;
use crate::config::ThreadKind;
use crate::panic::drop_quietly;
use crate::sched::bound_jobs::BoundWork;
use crate::sched::context;
use crate::sched::runtime_shared::RuntimeShared;
use crate::task::{RunContext, Task, TaskPtr, TaskVTable};

/// A worker whose thread is always the same: for what is tied to that, and cannot be moved.
#[derive(Clone, Copy)]
pub struct WorkerPlace {
    shared: &'static RuntimeShared,
    index: usize,
}

impl WorkerPlace {
    /// Returns the worker that the calling thread is. `None` if it is not one, or has only borrowed
    /// a thread: of an executor, or of the program (a pump). In a simulation there are none.
    pub fn current() -> Option<Self> {
        let worker = context::worker()?;
        let has_thread = worker.shared.config.host == ThreadKind::Workers;
        has_thread.then_some(Self { shared: worker.shared, index: worker.index })
    }

    /// Returns whether the calling thread is this worker.
    #[inline]
    pub fn is_current(self) -> bool {
        let is_this = |worker: &Worker| std::ptr::eq(worker.shared, self.shared);
        context::worker().is_some_and(|worker| worker.index == self.index && is_this(worker))
    }

    /// Returns whether both are workers of one runtime.
    pub fn is_in_same_runtime(self, other: Self) -> bool {
        std::ptr::eq(self.shared, other.shared)
    }

    /// Has the worker do a job: at once if it sleeps, or within 32 of its tasks. Jobs from one
    /// thread are done in their order. A runtime that has one left is not idle. A panic in it stops
    /// there.
    ///
    /// Costs an allocation and a lock, and wakes the worker if it sleeps.
    ///
    /// # Errors
    /// Returns the job if the worker has ended with its runtime. Up to then it does all of them.
    pub fn call(self, job: Box<dyn FnOnce() + Send>) -> Result<(), Box<dyn FnOnce() + Send>> {
        match self.give(BoundWork::Job(job)) {
            Err(BoundWork::Job(job)) => Err(job),
            _ => Ok(()),
        }
    }

    /// Has the worker run a task. If it has ended, returns the task.
    ///
    /// # Safety
    /// The task is ready, and the caller owns it and gives it away.
    pub(crate) unsafe fn run(self, task: TaskPtr) -> Result<(), TaskPtr> {
        match self.give(BoundWork::Task(task)) {
            Err(BoundWork::Task(task)) => Err(task),
            _ => Ok(()),
        }
    }

    fn give(self, work: BoundWork) -> Result<(), BoundWork> {
        self.shared.workers[self.index].bound.push(work)?;
        // ORDERING: SeqCst pairs with the fence in `SleepingWorkers::fall_asleep`: either this
        // thread sees the worker asleep, or the worker sees the job when it looks once more.
        fence(Ordering::SeqCst);
        if self.shared.idle.call(self.index) {
            self.shared.unpark(self.index);
        }
        Ok(())
    }
}

impl fmt::Debug for WorkerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkerPlace({}-{})", self.shared.config.name, self.index)
    }
}

/// The task that a worker takes for one of its jobs. It never waits in a queue.
static DO_JOB: Task = Task { vtable: &TaskVTable::new(do_job, no_link, || "a job of one worker") };

impl Worker {
    /// Takes what only this worker may do, if there is anything.
    #[inline]
    pub(super) fn take_bound(&self) -> Option<TaskPtr> {
        if self.me.bound.is_empty() { None } else { self.take_bound_slowly() }
    }

    #[cold]
    fn take_bound_slowly(&self) -> Option<TaskPtr> {
        match self.me.bound.take()? {
            BoundWork::Task(task) => Some(task),
            BoundWork::Job(job) => {
                self.job.set(Some(job));
                Some(NonNull::from_ref(&DO_JOB))
            }
        }
    }

    /// Accepts no more of that, unless there is some. Returns whether that is so.
    pub(super) fn ends_bound(&self) -> bool {
        self.me.bound.close_if_empty()
    }
}

/// # Safety
/// None is needed: it does the job that the worker which runs it has just taken.
unsafe fn do_job(_: TaskPtr, _: &RunContext) -> Option<TaskPtr> {
    if let Some(job) = context::worker()?.job.take() {
        drop_quietly(job);
    }
    None
}

/// # Safety
/// Not to be called: the task is run by the worker that has taken it.
unsafe fn no_link(_: TaskPtr) -> NonNull<AtomicPtr<()>> {
    unreachable!("a worker does a job where it takes it")
}
