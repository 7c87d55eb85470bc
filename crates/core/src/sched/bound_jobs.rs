//! Jobs and tasks that only one worker may do: they use what is tied to its thread.
//!
//! They wait beside the worker's own tasks, which any worker may take. See README.md, "Bound jobs".

use std::collections::VecDeque;

use coact_sync::shim::atomic::{AtomicBool, Ordering};
use coact_sync::shim::sync::Mutex;

use crate::task::TaskPtr;

/// What a worker is to do.
pub(crate) enum BoundWork {
    Job(Box<dyn FnOnce() + Send>),
    /// A ready task, which belongs to the one who takes it.
    Task(TaskPtr),
}

// SAFETY: a job is `Send`, and tasks may run, and so move, on any thread.
unsafe impl Send for BoundWork {}

/// The work of one worker, oldest first.
pub(crate) struct BoundJobs {
    /// Whether there is any. Written with the lock held.
    is_any: AtomicBool,
    /// `None` once the worker has ended.
    work: Mutex<Option<VecDeque<BoundWork>>>,
}

impl BoundJobs {
    pub(crate) fn new() -> Self {
        Self { is_any: AtomicBool::new(false), work: Mutex::new(Some(VecDeque::new())) }
    }

    /// Adds work. Afterwards, the caller must make sure that the worker looks.
    ///
    /// # Errors
    /// Returns it if the worker has ended.
    pub(super) fn push(&self, new: BoundWork) -> Result<(), BoundWork> {
        let mut work = self.work.lock();
        let Some(work) = &mut *work else { return Err(new) };
        work.push_back(new);
        // ORDERING: Relaxed. The pusher's fence orders it before the look at the sleepers.
        self.is_any.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Returns whether there is nothing to do; a hint.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // ORDERING: Relaxed. A hint; a caller that must not miss any work puts a barrier before it.
        !self.is_any.load(Ordering::Relaxed)
    }

    /// Takes the oldest, for the worker.
    pub(super) fn take(&self) -> Option<BoundWork> {
        let mut work = self.work.lock();
        let work = work.as_mut()?;
        let oldest = work.pop_front();
        // ORDERING: Relaxed. Guarded by the lock; outside of it a hint.
        self.is_any.store(!work.is_empty(), Ordering::Relaxed);
        oldest
    }

    /// Takes the tasks, for a thread that cancels them because the worker is stuck.
    pub(super) fn take_tasks(&self) -> Vec<TaskPtr> {
        let mut work = self.work.lock();
        let Some(work) = &mut *work else { return Vec::new() };
        let (mut tasks, mut jobs) = (Vec::new(), VecDeque::new());
        for one in work.drain(..) {
            match one {
                BoundWork::Task(task) => tasks.push(task),
                job @ BoundWork::Job(_) => jobs.push_back(job),
            }
        }
        *work = jobs;
        // ORDERING: Relaxed. See `take`.
        self.is_any.store(!work.is_empty(), Ordering::Relaxed);
        tasks
    }

    /// Accepts no more, unless there is some. Returns whether that is so.
    pub(super) fn close_if_empty(&self) -> bool {
        let mut work = self.work.lock();
        let is_empty = work.as_ref().is_none_or(VecDeque::is_empty);
        if is_empty {
            *work = None;
        }
        is_empty
    }
}

#[cfg(all(test, loom))]
mod loom;
