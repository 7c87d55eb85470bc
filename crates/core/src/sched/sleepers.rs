//! Who sleeps, who searches, and who must be woken. README.md, "Sleeping", has the argument why no
//! wake-up is lost.

use coact_sync::shim::atomic::{AtomicUsize, Ordering, fence};
use coact_sync::shim::sync::Mutex;
use coact_sync::{CachePadded, asym};

/// This many may search, however few are at work: one that is about to find something, and one for what comes then.
const SEARCHERS: usize = 2;

/// The sleepers of one runtime.
pub(crate) struct Idle {
    /// How many sleep, and whether they are watched over. On a line of its own: every worker looks at it now and then,
    /// and those who search must not disturb that.
    asleep: CachePadded<Asleep>,
    /// How many workers look for work, or were woken to look.
    searching: AtomicUsize,
    sleepers: Mutex<Vec<usize>>,
    /// How many workers there are.
    workers: usize,
}

impl Idle {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            asleep: CachePadded::new(Asleep(AtomicUsize::new(0))),
            searching: AtomicUsize::new(0),
            sleepers: Mutex::new(Vec::with_capacity(workers)),
            workers,
        }
    }

    /// Called after a task was left where a searching worker would find it. Returns a worker that
    /// must be woken, if one sleeps and none searches already.
    ///
    /// The caller has put a fence between leaving the task in an inbox and this. (Who asks for a watcher need not be
    /// exact.)
    #[inline]
    pub(crate) fn choose_sleeper(&self) -> Option<usize> {
        // ORDERING: Relaxed, both. The caller's fence pairs with those in `fall_asleep` and in `found_work`: either we
        // see the sleeper, or that it searches no more, or it sees the task.
        if self.asleep.is_none() || self.searching.load(Ordering::Relaxed) != 0 {
            return None;
        }
        self.take_sleeper()
    }

    /// Whether some worker has nothing to do: then those who have much should share it.
    #[inline]
    pub(crate) fn is_hungry(&self) -> bool {
        // ORDERING: Relaxed, both. Hints: who misses one that falls asleep this moment shares when it asks again, or is
        // seen by the watcher.
        !self.asleep.is_none() || self.searching.load(Ordering::Relaxed) != 0
    }

    #[cold]
    fn take_sleeper(&self) -> Option<usize> {
        let mut sleepers = self.sleepers.lock();
        // ORDERING: Relaxed. A second waker that comes by this early exit leaves the task to the
        // worker that the first one woke.
        if self.searching.load(Ordering::Relaxed) != 0 {
            return None;
        }
        let worker = sleepers.pop()?;
        self.asleep.leave();
        // On behalf of the woken one: until it has looked, nobody else need be woken.
        self.searching.fetch_add(1, Ordering::Relaxed);
        Some(worker)
    }

    /// Becomes the watcher, if there is none.
    pub(crate) fn start_watching(&self) -> bool {
        self.asleep.watch()
    }

    /// Whether a worker that has got up is to appoint a watcher: if not, the one that there is has
    /// seen that somebody is awake.
    pub(crate) fn misses_watcher(&self) -> bool {
        // Pairs with the heavy barrier in `end_watch`.
        asym::light();
        self.asleep.lacks_watcher()
    }

    pub(crate) fn stop_watching(&self) {
        self.asleep.end_watch();
    }

    /// Ends the watch if all workers sleep, and returns whether it has. The caller is the watcher.
    pub(crate) fn end_watch(&self, workers: usize) -> bool {
        self.stop_watching();
        // Pairs with the light barrier in `misses_watcher`: we see that somebody has got up, or he sees
        // that nobody watches.
        asym::heavy();
        self.sleeping() == workers || !self.start_watching()
    }

    /// One more searches. Returns whether that makes a crowd: as many others as are at work do already. Each that
    /// searches reads what those at work write, and so disturbs them, and more would not find more.
    pub(crate) fn start_searching(&self) -> bool {
        // ORDERING: Relaxed. A pusher that misses it wakes one worker too many.
        let others = self.searching.fetch_add(1, Ordering::Relaxed);
        let at_work = self.workers.saturating_sub(others + self.asleep.about());
        others >= at_work.max(SEARCHERS)
    }

    /// Ends a search that found something. Returns whether it was the last: then there may be more
    /// to find, and the finder wakes another.
    pub(crate) fn found_work(&self) -> bool {
        // ORDERING: Relaxed; the fence orders it.
        let was_last = self.searching.fetch_sub(1, Ordering::Relaxed) == 1;
        if was_last {
            // ORDERING: SeqCst pairs with the fence of those who leave tasks in inboxes: a task
            // whose pusher saw us searching, and so woke nobody, is visible to the look that
            // follows. (A worker that saw us searching when it pushed to its own queue is awake.)
            fence(Ordering::SeqCst);
        }
        was_last
    }

    /// Ends a search that found nothing, and goes to sleep: after this the worker must look once
    /// more before it parks.
    pub(crate) fn fall_asleep(&self, worker: usize) {
        let mut sleepers = self.sleepers.lock();
        sleepers.push(worker);
        self.asleep.join();
        // ORDERING: Relaxed. The barrier below orders both.
        self.searching.fetch_sub(1, Ordering::Relaxed);
        drop(sleepers);
        // ORDERING: SeqCst pairs with the pushers' fences: a task in an inbox whose pusher did not see us asleep (or
        // saw us searching) is visible to the look that follows. And with that in `Shared::end_outstanding`.
        fence(Ordering::SeqCst);
    }

    /// Wakes up by itself, and searches again. Returns false if a waker came first: it has counted
    /// the worker as searching already, and has unparked it.
    pub(crate) fn wake_up(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        let Some(at) = sleepers.iter().position(|sleeper| *sleeper == worker) else { return false };
        sleepers.swap_remove(at);
        self.asleep.leave();
        // ORDERING: Relaxed. A pusher that misses it wakes one worker too many.
        self.searching.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Whether so many workers sleep: all that there are. What they did before is visible then.
    pub(crate) fn are_asleep(&self, workers: usize) -> bool {
        self.sleepers.lock().len() == workers
    }

    /// Which workers sleep.
    pub(crate) fn asleep(&self) -> Vec<usize> {
        self.sleepers.lock().clone()
    }

    /// How many workers sleep. What they did before is visible.
    pub(crate) fn sleeping(&self) -> usize {
        self.asleep.count()
    }
}

/// How many workers of a runtime sleep, and whether one of them watches over tasks that wait behind a long behaviour
/// (`Worker::sleep`): in one word, since who has got up asks for both at once.
struct Asleep(AtomicUsize);

impl Asleep {
    /// The sign: so one look at it, and at zero, answers the question of `lacks_watcher`.
    const WATCHED: usize = 1 << (usize::BITS - 1);

    /// One more is on the list of sleepers, whose lock the caller has.
    fn join(&self) {
        // ORDERING: Release pairs with the acquire in `count`: who finds all workers asleep sees what they have done.
        self.0.fetch_add(1, Ordering::Release);
    }

    /// One is so no more. The caller has the lock.
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

    /// Whether somebody sleeps, and nobody watches.
    #[inline]
    fn lacks_watcher(&self) -> bool {
        // ORDERING: Relaxed. Who must be exact puts a barrier before it.
        self.0.load(Ordering::Relaxed).cast_signed() > 0
    }

    /// Whether nobody sleeps.
    #[inline]
    fn is_none(&self) -> bool {
        self.about() == 0
    }

    /// How many sleep, or did a moment ago.
    #[inline]
    fn about(&self) -> usize {
        // ORDERING: Relaxed. For a choice that may be wrong.
        self.0.load(Ordering::Relaxed) & !Self::WATCHED
    }

    fn count(&self) -> usize {
        // ORDERING: Acquire pairs with the release in `join`.
        self.0.load(Ordering::Acquire) & !Self::WATCHED
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Idle;

    #[test]
    fn no_more_search_than_are_at_work_but_two() {
        let idle = Idle::new(8);
        let is_crowd: Vec<bool> = (0..8).map(|_| idle.start_searching()).collect();
        // The fifth finds four searching and four at work, itself among them.
        assert_eq!(is_crowd, [false, false, false, false, true, true, true, true]);
        (4..8).for_each(|worker| idle.fall_asleep(worker));
        // Two have found work; one of these comes back to two that search and two at work.
        assert!(!idle.found_work() && !idle.found_work());
        assert!(idle.start_searching());
    }

    #[test]
    fn two_workers_are_no_crowd() {
        let idle = Idle::new(2);
        assert!(!idle.start_searching());
        assert!(!idle.start_searching());
    }
}

#[cfg(all(test, loom))]
mod loom;
