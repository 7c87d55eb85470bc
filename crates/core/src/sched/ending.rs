//! The end of a runtime's threads: how it is counted, and how it looks to those who wait for it.

use std::sync::Arc;
use std::time::Duration;

use coact_sync::shim::atomic::Ordering;

use super::phase::Phase;
use super::runtime_handle::RuntimeHandle;
use super::shared::Shared;
use super::stuck::Stuck;
use super::watchdog::state::Watchdog;
use super::{external, watchers};

/// Which runtimes are about to end, as [`Interruptible::end`](crate::internals::Interruptible::end) is told.
#[derive(Clone, Debug)]
pub struct Ending {
    pub(crate) homes: Arc<[RuntimeHandle]>,
    pub(crate) forced: bool,
}

impl Ending {
    /// Whether the runtime is one of those that end.
    pub fn concerns(&self, home: RuntimeHandle) -> bool {
        self.homes.contains(&home)
    }

    /// Whether nothing is left to wait for: others that were to see to the state's end have not.
    pub fn is_forced(&self) -> bool {
        self.forced
    }
}

impl Shared {
    /// Called at the end of a worker's thread.
    pub(crate) fn count_worker_out(&self, worker: usize) {
        // ORDERING: Release pairs with the acquire in `is_over`: the worker has left its queue for good.
        self.workers[worker].ended.store(true, Ordering::Release);
        self.count_out();
    }

    /// There are only so many workers: the system has refused the next one a thread.
    pub(crate) fn has_only(&self, workers: usize) {
        for refused in &self.workers[workers..] {
            // ORDERING: Relaxed. Nobody but the caller ends the runtime, which nobody has seen yet.
            refused.ended.store(true, Ordering::Relaxed);
        }
        *self.alive.lock() = workers;
    }

    /// Called at the end of a thread that counts as alive. Nobody need be left who waits for it, so the
    /// last one sees to what is left behind.
    pub(crate) fn count_out(&self) {
        let mut alive = self.alive.lock();
        if *alive == 1 && self.phase() == Phase::Stopped {
            // Only those that are alive start others: nobody else changes the count.
            drop(alive);
            self.cancel_inboxes();
            alive = self.alive.lock();
        }
        // A simulated runtime has nothing that lives.
        *alive = alive.saturating_sub(1);
        self.changed.notify_all();
        drop(alive);
        watchers::tell();
    }

    /// Whether it is stopped, and no thread of it is left.
    pub(crate) fn has_ended(&self) -> bool {
        self.phase() == Phase::Stopped && !self.is_alive()
    }

    /// Whether some of what counts as alive is left.
    pub(crate) fn is_alive(&self) -> bool {
        *self.alive.lock() > 0
    }

    /// Sleeps until somebody tells of a change, for so long at the most.
    pub(crate) fn wait_for_change(&self, time: Duration) {
        drop(self.changed.wait_timeout(self.alive.lock(), time));
    }

    /// Whether nothing is queued, and nobody runs anything here, not even an external thread: there may be work elsewhere
    /// that has not come back.
    pub(crate) fn is_at_rest(&self) -> bool {
        let workers = (0..self.workers.len()).filter(|worker| !self.is_over(*worker)).count();
        self.idle.are_asleep(workers) && !self.has_tasks() && self.external_threads() == 0
    }

    /// How many threads that are no workers of the runtime work in it.
    pub(crate) fn external_threads(&self) -> usize {
        external::count(&|id| id == self.id)
    }

    /// Figures that change with everything that a thread of the runtime does, and not while all are in a
    /// body.
    pub(crate) fn progress(&self) -> impl PartialEq + use<> {
        let dropped = self.abandoned.load(std::sync::atomic::Ordering::Relaxed);
        (self.stamp(), dropped, self.idle.sleeping())
    }

    /// The workers that do not sleep.
    pub(crate) fn awake(&self) -> Vec<usize> {
        let asleep = self.idle.asleep();
        (0..self.workers.len()).filter(|worker| !asleep.contains(worker)).collect()
    }

    fn is_over(&self, worker: usize) -> bool {
        // ORDERING: Acquire pairs with the release in `count_worker_out`.
        self.workers[worker].ended.load(Ordering::Acquire)
    }

    /// Whether all workers have ended but, perhaps, these.
    pub(crate) fn workers_have_ended_but(&self, stuck: &[usize]) -> bool {
        (0..self.workers.len()).all(|worker| stuck.contains(&worker) || self.is_over(worker))
    }

    /// Whether all have ended that count as alive but workers.
    pub(crate) fn others_have_ended(&self) -> bool {
        let stuck = (0..self.workers.len()).filter(|worker| !self.is_over(*worker)).count();
        *self.alive.lock() <= stuck
    }

    /// Drops what is queued in a stopped runtime, wherever it is: behind workers that are stuck, too.
    pub(crate) fn cancel_queues(&self) {
        for worker in (0..self.workers.len()).filter(|worker| !self.is_over(*worker)) {
            let queue = &self.workers[worker].local;
            let mut tasks = Vec::new();
            while queue.has_any() {
                let before = tasks.len();
                queue.steal(true, &mut tasks);
                if tasks.len() == before {
                    // The worker has come back, and does it itself.
                    break;
                }
            }
            for task in tasks {
                // SAFETY: ready, and taken by us alone.
                unsafe { self.cancel(task) };
            }
        }
        self.cancel_inboxes();
    }

    /// The workers that have not ended, and those that stand in for them, and what they are in.
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
