//! The end of a runtime's threads: how it is counted, and how waiters see it.

use std::sync::Arc;
use std::time::Duration;

use coact_sync::shim::atomic::Ordering;

use super::phase::RuntimePhase;
use super::runtime_handle::RuntimeHandle;
use super::runtime_shared::RuntimeShared;
use super::stuck_thread::Stuck;
use super::watchdog::state::Watchdog;
use super::{external_threads, idle_waiters};

/// The runtimes that are about to end, as passed to
/// [`Interruptible::end`](crate::internals::Interruptible::end).
#[derive(Clone, Debug)]
pub struct Ending {
    pub(crate) homes: Arc<[RuntimeHandle]>,
    pub(crate) forced: bool,
}

impl Ending {
    /// Returns whether the runtime is one of those that end.
    pub fn concerns(&self, home: RuntimeHandle) -> bool {
        self.homes.contains(&home)
    }

    /// Returns whether there is nothing left to wait for: those that should have ended the state
    /// have not.
    pub fn is_forced(&self) -> bool {
        self.forced
    }
}

impl RuntimeShared {
    /// Called at the end of a worker's thread.
    pub(crate) fn count_worker_out(&self, worker: usize) {
        // ORDERING: Release pairs with the Acquire in `is_over`: the worker has left its queue for
        // good.
        self.workers[worker].ended.store(true, Ordering::Release);
        self.count_out();
    }

    /// There are only this many workers: the system has refused the next one a thread.
    pub(crate) fn has_only(&self, workers: usize) {
        for refused in &self.workers[workers..] {
            // ORDERING: Relaxed. Only the caller ends the runtime, which no other thread has seen
            // yet.
            refused.ended.store(true, Ordering::Relaxed);
        }
        *self.alive.lock() = workers;
    }

    /// Called at the end of a thread that counts as alive. No thread may be waiting for it, so the
    /// last one handles what is left behind.
    pub(crate) fn count_out(&self) {
        let mut alive = self.alive.lock();
        if *alive == 1 && self.phase() == RuntimePhase::Stopped {
            // Only live threads start others, so no other thread changes the count.
            drop(alive);
            self.cancel_inboxes();
            alive = self.alive.lock();
        }
        // A simulated runtime has no threads that count as alive.
        *alive = alive.saturating_sub(1);
        self.changed.notify_all();
        drop(alive);
        idle_waiters::tell();
    }

    /// Returns whether it is stopped, and has no thread left.
    pub(crate) fn has_ended(&self) -> bool {
        self.phase() == RuntimePhase::Stopped && !self.is_alive()
    }

    /// Returns whether some of what counts as alive is left.
    pub(crate) fn is_alive(&self) -> bool {
        *self.alive.lock() > 0
    }

    /// Sleeps until there is a change, or the time has passed.
    pub(crate) fn wait_for_change(&self, time: Duration) {
        drop(self.changed.wait_timeout(self.alive.lock(), time));
    }

    /// Returns whether nothing is queued, and no thread runs anything here, including external
    /// threads: there may be work elsewhere that has not come back.
    pub(crate) fn is_at_rest(&self) -> bool {
        let workers = (0..self.workers.len()).filter(|worker| !self.is_over(*worker)).count();
        self.idle.are_asleep(workers) && !self.has_tasks() && self.external_threads() == 0
    }

    /// Returns how many threads that are not workers of the runtime work in it.
    pub(crate) fn external_threads(&self) -> usize {
        external_threads::count(&|id| id == self.id)
    }

    /// Figures that change with everything that a thread of the runtime does, and not while all are
    /// in a body. A thread that releases a cown may so make ready what a stopped runtime has left
    /// behind, and then drops that itself.
    pub(crate) fn progress(&self) -> impl PartialEq + use<> {
        // ORDERING: Relaxed, both. They only show that something happens.
        let dropped = self.abandoned.load(Ordering::Relaxed);
        let cancelled = self.cancelled.load(Ordering::Relaxed);
        (self.stamp(), dropped, cancelled, self.idle.sleeping())
    }

    /// Returns the workers that do not sleep.
    pub(crate) fn awake(&self) -> Vec<usize> {
        let asleep = self.idle.asleep();
        (0..self.workers.len()).filter(|worker| !asleep.contains(worker)).collect()
    }

    fn is_over(&self, worker: usize) -> bool {
        // ORDERING: Acquire pairs with the Release in `count_worker_out`.
        self.workers[worker].ended.load(Ordering::Acquire)
    }

    /// Returns whether all workers have ended except, possibly, these.
    pub(crate) fn workers_have_ended_but(&self, stuck: &[usize]) -> bool {
        (0..self.workers.len()).all(|worker| stuck.contains(&worker) || self.is_over(worker))
    }

    /// Returns whether everything that counts as alive has ended except workers.
    pub(crate) fn others_have_ended(&self) -> bool {
        let stuck = (0..self.workers.len()).filter(|worker| !self.is_over(*worker)).count();
        *self.alive.lock() <= stuck
    }

    /// Drops what is queued in a stopped runtime, wherever it is, including behind stuck workers.
    pub(crate) fn cancel_queues(&self) {
        for worker in (0..self.workers.len()).filter(|worker| !self.is_over(*worker)) {
            let queue = &self.workers[worker].local;
            let mut tasks = self.workers[worker].bound.take_tasks();
            while queue.has_any() {
                let before = tasks.len();
                queue.steal(true, &mut tasks);
                if tasks.len() == before {
                    // The worker has returned, and does it itself.
                    break;
                }
            }
            for task in tasks {
                // SAFETY: the task is ready, and this thread has taken it.
                unsafe { self.cancel(task) };
            }
        }
        self.cancel_inboxes();
    }

    /// Returns the workers that have not ended, and the threads in their place, and what they are
    /// running.
    pub(crate) fn stuck_workers(&self) -> Vec<Stuck> {
        let stuck = (0..self.workers.len()).filter(|worker| !self.is_over(*worker));
        let spares = self.watchdog().map(Watchdog::stuck_spares).unwrap_or_default();
        let workers = stuck.map(|worker| Stuck {
            thread: format!("{}-{worker}", self.config.name),
            work: self.workers[worker].mark.look().map(|running| (running.name)()),
        });
        workers.chain(spares).collect()
    }
}
