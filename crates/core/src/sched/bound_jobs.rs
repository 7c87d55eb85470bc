//! Jobs that only one worker may do: they use what is tied to its thread.
//!
//! They wait beside the worker's tasks, which any worker may take. See README.md, "Bound jobs".

use std::collections::VecDeque;
use std::mem::take;

use coact_sync::shim::atomic::{AtomicBool, Ordering};
use coact_sync::shim::sync::Mutex;

/// What a worker is to do.
pub(crate) type BoundJob = Box<dyn FnOnce() + Send>;

/// The jobs of one worker, oldest first.
pub(crate) struct BoundJobs {
    /// Whether there are any. Written with the lock held.
    is_any: AtomicBool,
    /// `None` once the worker has ended.
    jobs: Mutex<Option<VecDeque<BoundJob>>>,
}

impl BoundJobs {
    pub(crate) fn new() -> Self {
        Self { is_any: AtomicBool::new(false), jobs: Mutex::new(Some(VecDeque::new())) }
    }

    /// Adds a job. Afterwards, the caller must make sure that the worker looks.
    ///
    /// # Errors
    /// Returns the job if the worker has ended.
    pub(super) fn push(&self, job: BoundJob) -> Result<(), BoundJob> {
        let mut jobs = self.jobs.lock();
        let Some(jobs) = &mut *jobs else { return Err(job) };
        jobs.push_back(job);
        // ORDERING: Relaxed. The pusher's fence orders it before the look at the sleepers.
        self.is_any.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Returns whether there is nothing to do; a hint.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // ORDERING: Relaxed. A hint; a caller that must not miss a job puts a barrier before it.
        !self.is_any.load(Ordering::Relaxed)
    }

    /// Takes all jobs, for the worker.
    pub(super) fn take_all(&self) -> VecDeque<BoundJob> {
        let mut jobs = self.jobs.lock();
        // ORDERING: Relaxed. Guarded by the lock; outside of it a hint.
        self.is_any.store(false, Ordering::Relaxed);
        jobs.as_mut().map(take).unwrap_or_default()
    }

    /// Accepts no more jobs, unless there are some. Returns whether that is so.
    pub(super) fn close_if_empty(&self) -> bool {
        let mut jobs = self.jobs.lock();
        let is_empty = jobs.as_ref().is_none_or(VecDeque::is_empty);
        if is_empty {
            *jobs = None;
        }
        is_empty
    }
}

#[cfg(all(test, loom))]
mod loom;
