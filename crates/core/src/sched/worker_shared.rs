//! One worker as the other threads see it.

use coact_sync::CachePadded;
use coact_sync::shim::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use parking::Unparker;

use super::bound_jobs::BoundJobs;
use super::clock::RuntimeClock;
use super::inbox::Inbox;
use super::local::LocalQueue;
use super::share_policy::SHARE_EVERY;
use super::watchdog::current_task::CurrentTask;

/// One worker as the other threads see it.
pub(crate) struct WorkerShared {
    pub(crate) local: LocalQueue,
    /// On cache lines of its own: other threads check it while the worker uses its queue.
    pub(crate) inbox: CachePadded<Inbox>,
    /// What only this worker may do.
    pub(crate) bound: CachePadded<BoundJobs>,
    /// Raised with every task that the worker takes: a worker whose count stands still is in a long
    /// behaviour.
    pub(crate) ticks: AtomicU64,
    /// The worker that asks this one for a task, plus 1; 0 if none does.
    pub(super) asker: AtomicUsize,
    /// The time until which it keeps its tasks because sharing has not paid, in nanoseconds since
    /// the runtime's start; 0 if it never did. A hint.
    pub(super) keeps_until: AtomicU64,
    /// What it runs, if a watchdog observes it.
    pub(super) mark: CurrentTask,
    /// Whether its thread has ended.
    pub(super) ended: AtomicBool,
    pub(super) unparker: Unparker,
}

impl WorkerShared {
    /// Counts that the worker itself looks for a task.
    #[inline]
    pub(super) fn tick(&self) {
        // ORDERING: Relaxed, both. Only the worker writes it; a hint for the watcher; a check that
        // must be exact first finds the worker asleep.
        let tick = self.ticks.load(Ordering::Relaxed).wrapping_add(1);
        self.ticks.store(tick, Ordering::Relaxed);
    }

    /// Returns how many tasks the worker has taken since the caller last looked, and updates
    /// `seen`.
    pub(super) fn taken_since(&self, seen: &mut u64) -> u64 {
        // ORDERING: Relaxed. A hint: a worker mistaken for stuck loses some tasks to another one.
        let ticks = self.ticks.load(Ordering::Relaxed);
        ticks.wrapping_sub(std::mem::replace(seen, ticks))
    }

    /// Returns whether the worker has tasks that it is not going to share soon: since the caller
    /// last looked it has taken none, or fewer than it takes between two shares.
    pub(super) fn is_long_in_sharing(&self, seen: &mut u64, clock: &RuntimeClock) -> bool {
        let taken = self.taken_since(seen);
        let is_slow = taken < SHARE_EVERY as u64 && self.has_tasks_to_share(clock);
        is_slow || taken == 0 && self.local.has_any()
    }

    /// Returns whether the worker has tasks besides its next one, and does not keep them.
    ///
    /// The time is compared here, and not when the worker decides: one that has got long tasks
    /// since then may not decide again for many times as long as it wanted to keep them.
    pub(super) fn has_tasks_to_share(&self, clock: &RuntimeClock) -> bool {
        // ORDERING: Relaxed. For a decision that may be wrong.
        let until = self.keeps_until.load(Ordering::Relaxed);
        self.local.len() > 0 && (until == 0 || clock.now() >= until)
    }
}
