//! Which workers sleep, which search, and which must be woken. For the argument why no wake-up is
//! lost, see README.md, "Sleeping".

use coact_sync::shim::atomic::{AtomicUsize, Ordering, fence};
use coact_sync::shim::sync::Mutex;
use coact_sync::{CachePadded, asym};

/// This many may search, however few are busy: one that is about to find something, and one for
/// what comes then.
const SEARCHERS: usize = 2;

/// The sleepers of one runtime.
pub(crate) struct SleepingWorkers {
    /// How many sleep, and whether there is a watcher. On a cache line of its own: every worker
    /// reads it now and then, which searching workers must not disturb.
    asleep: CachePadded<SleepCount>,
    /// How many workers look for work, or were woken to look.
    searching: AtomicUsize,
    sleepers: Mutex<Vec<usize>>,
    /// The number of workers.
    workers: usize,
}

impl SleepingWorkers {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            asleep: CachePadded::new(SleepCount(AtomicUsize::new(0))),
            searching: AtomicUsize::new(0),
            sleepers: Mutex::new(Vec::with_capacity(workers)),
            workers,
        }
    }

    /// Called after a task was left where a searching worker finds it. Returns a worker that must
    /// be woken, if one sleeps and none is searching already.
    ///
    /// The caller has put a fence between leaving the task in an inbox and this. (A call to find a
    /// watcher need not be exact.)
    #[inline]
    pub(crate) fn choose_sleeper(&self) -> Option<usize> {
        // ORDERING: Relaxed, both. The caller's fence pairs with those in `fall_asleep` and in
        // `found_work`: either this thread sees the sleeper, or that it no longer searches, or the
        // worker sees the task.
        if self.asleep.is_none() || self.searching.load(Ordering::Relaxed) != 0 {
            return None;
        }
        self.take_sleeper()
    }

    /// Returns whether some worker is idle: then workers with many tasks should share them.
    #[inline]
    pub(crate) fn is_hungry(&self) -> bool {
        // ORDERING: Relaxed, both. Hints: a worker that misses one falling asleep at this moment
        // shares when it asks again, or the watcher sees it.
        !self.asleep.is_none() || self.searching.load(Ordering::Relaxed) != 0
    }

    #[cold]
    fn take_sleeper(&self) -> Option<usize> {
        let mut sleepers = self.sleepers.lock();
        // ORDERING: Relaxed. A second waker that takes this early exit leaves the task to the
        // worker that the first one woke.
        if self.searching.load(Ordering::Relaxed) != 0 {
            return None;
        }
        let worker = sleepers.pop()?;
        self.asleep.leave();
        // On behalf of the woken worker: until it has looked, no other one need be woken.
        self.searching.fetch_add(1, Ordering::Relaxed);
        Some(worker)
    }

    /// Becomes the watcher if there is none.
    pub(crate) fn start_watching(&self) -> bool {
        self.asleep.watch()
    }

    /// Returns whether a worker that has got up must appoint a watcher: if not, the existing one
    /// has seen that some worker is awake.
    pub(crate) fn misses_watcher(&self) -> bool {
        // Pairs with the heavy barrier in `end_watch`.
        asym::light();
        self.asleep.lacks_watcher()
    }

    pub(crate) fn stop_watching(&self) {
        self.asleep.end_watch();
    }

    /// Ends the watch if all workers sleep, and returns whether it does. The caller is the watcher.
    pub(crate) fn end_watch(&self, workers: usize) -> bool {
        self.stop_watching();
        // Pairs with the light barrier in `misses_watcher`: either this thread sees that a worker
        // has got up, or that worker sees that there is no watcher.
        asym::heavy();
        self.sleeping() == workers || !self.start_watching()
    }

    /// Counts another searching worker. Returns whether that makes a crowd: as many others as are
    /// busy are already searching. Each searching worker reads what busy ones write, and so
    /// disturbs them, and more would not find more.
    pub(crate) fn start_searching(&self) -> bool {
        // ORDERING: Relaxed. A pusher that misses it wakes one worker too many.
        let others = self.searching.fetch_add(1, Ordering::Relaxed);
        let at_work = self.workers.saturating_sub(others + self.asleep.sleeping_hint());
        others >= at_work.max(SEARCHERS)
    }

    /// Returns whether no other worker searches than the caller.
    pub(crate) fn is_only_searcher(&self) -> bool {
        // ORDERING: Relaxed. A hint: two may look on for a moment, or none.
        self.searching.load(Ordering::Relaxed) == 1
    }

    /// Ends a search that found something. Returns whether it was the last: then there may be more
    /// to find, and the caller wakes another worker.
    pub(crate) fn found_work(&self) -> bool {
        // ORDERING: Relaxed; the fence orders it.
        let was_last = self.searching.fetch_sub(1, Ordering::Relaxed) == 1;
        if was_last {
            // ORDERING: SeqCst pairs with the fence of threads that leave tasks in inboxes: if a
            // pusher saw this worker searching, and so woke none, its task is visible to the
            // following look. (A worker that saw this one searching when it pushed to its own queue
            // is awake.)
            fence(Ordering::SeqCst);
        }
        was_last
    }

    /// Ends a search that found nothing, and goes to sleep: afterwards the worker must look once
    /// more before it parks.
    pub(crate) fn fall_asleep(&self, worker: usize) {
        let mut sleepers = self.sleepers.lock();
        sleepers.push(worker);
        self.asleep.join();
        // ORDERING: Relaxed. The barrier below orders both.
        self.searching.fetch_sub(1, Ordering::Relaxed);
        drop(sleepers);
        // ORDERING: SeqCst pairs with the pushers' fences: if a pusher did not see this worker
        // asleep (or saw it searching), its task in an inbox is visible to the following look. Also
        // pairs with the fence in `RuntimeShared::end_outstanding`.
        fence(Ordering::SeqCst);
    }

    /// Wakes up by itself, and searches again. Returns `false` if a waker came first: it has
    /// already counted the worker as searching, and has unparked it.
    pub(crate) fn wake_up(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        let Some(at) = sleepers.iter().position(|sleeper| *sleeper == worker) else { return false };
        sleepers.swap_remove(at);
        self.asleep.leave();
        // ORDERING: Relaxed. A pusher that misses it wakes one worker too many.
        self.searching.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Takes one worker off the list, if it sleeps, on its behalf: the caller wakes it for what
    /// only that one may do. Returns whether it slept.
    ///
    /// The caller has put a fence between leaving that and this.
    pub(crate) fn call(&self, worker: usize) -> bool {
        // ORDERING: Relaxed inside. The caller's fence pairs with that in `fall_asleep`: either
        // this thread sees that some worker sleeps, or the worker sees what was left for it.
        !self.asleep.is_none() && self.wake_up(worker)
    }

    /// Returns whether this many workers, all there are, sleep. What they did before is then
    /// visible.
    pub(crate) fn are_asleep(&self, workers: usize) -> bool {
        self.sleepers.lock().len() == workers
    }

    /// Returns the sleeping workers.
    pub(crate) fn asleep(&self) -> Vec<usize> {
        self.sleepers.lock().clone()
    }

    /// Returns the number of sleeping workers. What they did before is visible.
    pub(crate) fn sleeping(&self) -> usize {
        self.asleep.count()
    }
}

/// How many workers of a runtime sleep, and whether one of them is the watcher for tasks behind
/// long behaviours (`Worker::sleep`): in one word, since a worker that has got up asks for both at
/// once.
struct SleepCount(AtomicUsize);

impl SleepCount {
    /// The sign bit: so one comparison with zero answers the question of `lacks_watcher`.
    const WATCHED: usize = 1 << (usize::BITS - 1);

    /// Counts another worker on the list of sleepers, whose lock the caller has.
    fn join(&self) {
        // ORDERING: Release pairs with the Acquire in `count`: a thread that finds all workers
        // asleep sees what they have done.
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Counts one worker less. The caller has the lock.
    fn leave(&self) {
        // ORDERING: Relaxed. A pusher that misses it wakes one worker too many.
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Becomes the watcher; returns whether there was none.
    fn watch(&self) -> bool {
        // ORDERING: Relaxed, here and in `end_watch`. The bit guards no data.
        self.0.fetch_or(Self::WATCHED, Ordering::Relaxed) & Self::WATCHED == 0
    }

    fn end_watch(&self) {
        self.0.fetch_and(!Self::WATCHED, Ordering::Relaxed);
    }

    /// Returns whether a worker sleeps, and there is no watcher.
    #[inline]
    fn lacks_watcher(&self) -> bool {
        // ORDERING: Relaxed. A caller that must be exact puts a barrier before it.
        self.0.load(Ordering::Relaxed).cast_signed() > 0
    }

    /// Returns whether no worker sleeps.
    #[inline]
    fn is_none(&self) -> bool {
        self.sleeping_hint() == 0
    }

    /// Returns how many sleep, or did a moment ago.
    #[inline]
    fn sleeping_hint(&self) -> usize {
        // ORDERING: Relaxed. For a decision that may be wrong.
        self.0.load(Ordering::Relaxed) & !Self::WATCHED
    }

    fn count(&self) -> usize {
        // ORDERING: Acquire pairs with the Release in `join`.
        self.0.load(Ordering::Acquire) & !Self::WATCHED
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::SleepingWorkers;

    #[test]
    fn no_more_search_than_are_at_work_but_two() {
        let idle = SleepingWorkers::new(8);
        let is_crowd: Vec<bool> = (0..8).map(|_| idle.start_searching()).collect();
        // The fifth finds four searching and four at work, itself among them.
        assert_eq!(is_crowd, [false, false, false, false, true, true, true, true]);
        (4..8).for_each(|worker| idle.fall_asleep(worker));
        // Two have found work; one of these comes back to two searching and two busy workers.
        assert!(!idle.found_work() && !idle.found_work());
        assert!(idle.start_searching());
    }

    #[test]
    fn two_workers_are_no_crowd() {
        let idle = SleepingWorkers::new(2);
        assert!(!idle.start_searching());
        assert!(!idle.start_searching());
    }
}

#[cfg(all(test, loom))]
mod loom;
