//! Models of sleeping and waking: sleeping workers leave no task behind.
//!
//! The workers are those of `worker.rs`, reduced to what matters here: search once, fall asleep,
//! look once more, park. Tasks are a count, accessed with the weakest orderings, like the hints
//! that real workers read. A lost wake-up shows as a deadlock, which loom reports.

use coact_sync::shim::atomic::{AtomicUsize, Ordering, fence};
use coact_sync::shim::sync::Arc;
use loom::thread;

use super::SleepingWorkers;
use crate::sched::loom::{WakePermit, check, check_bounded, check_long};

struct SleeperPool<const WORKERS: usize> {
    idle: SleepingWorkers,
    tasks: AtomicUsize,
    permits: [WakePermit; WORKERS],
}

impl<const WORKERS: usize> SleeperPool<WORKERS> {
    fn new() -> Arc<Self> {
        let permits = std::array::from_fn(|_| WakePermit::default());
        Arc::new(Self { idle: SleepingWorkers::new(WORKERS), tasks: AtomicUsize::new(0), permits })
    }

    fn has_tasks(&self) -> bool {
        self.tasks.load(Ordering::Relaxed) > 0
    }

    fn take(&self) -> bool {
        let (ok, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        self.tasks.fetch_update(ok, failed, |tasks| tasks.checked_sub(1)).is_ok()
    }

    /// Like an outside thread, into an inbox.
    fn push(&self) {
        self.tasks.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.notify();
    }

    fn notify(&self) {
        if let Some(worker) = self.idle.choose_sleeper() {
            self.permits[worker].unpark();
        }
    }

    /// Like `Worker::search`, up to the first task.
    fn work(&self, worker: usize) {
        self.idle.start_searching();
        while !self.take() {
            self.sleep(worker);
        }
        // Like `RuntimeShared::notify_of_rest`.
        if self.idle.found_work() && self.has_tasks() {
            // ORDERING: SeqCst pairs with the fence in `fall_asleep`, as in
            // `RuntimeShared::notify_of_inbox`.
            fence(Ordering::SeqCst);
            self.notify();
        }
    }

    /// Like `Worker::sleep`.
    fn sleep(&self, worker: usize) {
        self.idle.fall_asleep(worker);
        if self.has_tasks() {
            if !self.idle.wake_up(worker) {
                self.permits[worker].park();
            }
        } else {
            self.permits[worker].park();
            self.idle.wake_up(worker);
        }
    }
}

/// A task comes while the only worker falls asleep.
///
/// Fails without the fence in `fall_asleep`, without that of the pusher, and without the look after
/// `fall_asleep`.
#[test]
fn push_against_fall_asleep() {
    check(|| {
        let pool = SleeperPool::<1>::new();
        let worker = thread::spawn({
            let pool = pool.clone();
            move || pool.work(0)
        });
        pool.push();
        worker.join().unwrap();
    });
}

/// Two tasks come while two workers search, sleep and wake. Each worker takes one, and then stays
/// busy: so the first must not leave the second task to a sleeping worker.
///
/// Fails without the fence in `found_work`.
#[test]
fn push_against_a_search_that_ends() {
    check_bounded(2, || {
        let pool = SleeperPool::<2>::new();
        let workers = [0, 1].map(|worker| {
            let pool = pool.clone();
            thread::spawn(move || pool.work(worker))
        });
        pool.push();
        pool.push();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// The watcher ends its watch, since all have slept for a while, and a worker gets up: there is a
/// watcher for what that worker is going to put aside.
///
/// Fails without the barrier in `end_watch`, without that in `misses_watcher`, and without the
/// check in `end_watch`.
#[test]
fn end_watch_against_a_worker_that_gets_up() {
    check(|| {
        let pool = SleeperPool::<2>::new();
        for worker in 0..2 {
            pool.idle.start_searching();
            pool.idle.fall_asleep(worker);
        }
        assert!(pool.idle.start_watching());
        // A third worker goes on searching: the one that gets up is not the last to have searched.
        pool.idle.start_searching();
        let watcher = thread::spawn({
            let pool = pool.clone();
            move || !pool.idle.end_watch(2)
        });
        assert!(pool.idle.wake_up(1));
        pool.idle.found_work();
        let missed = pool.idle.misses_watcher();
        assert!(watcher.join().unwrap() || missed);
    });
}

/// Two threads push one task each.
#[test]
fn push_against_push_against_fall_asleep() {
    check_long(|| {
        let pool = SleeperPool::<2>::new();
        let workers = [0, 1].map(|worker| {
            let pool = pool.clone();
            thread::spawn(move || pool.work(worker))
        });
        let pusher = thread::spawn({
            let pool = pool.clone();
            move || pool.push()
        });
        pool.push();
        pusher.join().unwrap();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// A watcher takes the task of a worker that then finds nothing and falls asleep: as long as the
/// task has not run, not all are asleep, or it is in the queue.
///
/// Fails if the watcher takes the task before it wakes up.
#[test]
fn a_watcher_takes_the_last_task() {
    check(|| {
        let pool = SleeperPool::<2>::new();
        pool.tasks.store(1, Ordering::Relaxed);
        // Worker 1 is the watcher, asleep; worker 0 is awake.
        pool.idle.start_searching();
        pool.idle.fall_asleep(1);
        let ran = Arc::new(AtomicUsize::new(0));
        let watcher = {
            let (pool, ran) = (Arc::clone(&pool), Arc::clone(&ran));
            thread::spawn(move || {
                assert!(pool.idle.wake_up(1), "no other thread wakes it");
                if pool.take() {
                    ran.store(1, Ordering::Relaxed);
                }
                pool.idle.fall_asleep(1);
            })
        };
        let worker = {
            let (pool, ran) = (Arc::clone(&pool), Arc::clone(&ran));
            thread::spawn(move || {
                if pool.take() {
                    ran.store(1, Ordering::Relaxed);
                }
                pool.idle.start_searching();
                pool.idle.fall_asleep(0);
            })
        };
        if pool.idle.sleeping() == 2 && !pool.has_tasks() {
            assert_eq!(ran.load(Ordering::Relaxed), 1, "it looked idle with a task left");
        }
        watcher.join().unwrap();
        worker.join().unwrap();
    });
}
