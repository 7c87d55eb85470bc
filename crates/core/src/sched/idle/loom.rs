//! Models of sleeping and waking: no task is left behind by workers that sleep.
//!
//! The workers are those of `worker.rs`, cut down to what matters here: search once, fall asleep,
//! look once more, park. Tasks are a count, reached with the weakest orderings, like the hints that
//! real workers look at. A lost wake-up shows as a deadlock, which loom reports.

use coact_sync::asym;
use coact_sync::shim::atomic::{AtomicUsize, Ordering, fence};
use coact_sync::shim::sync::{Arc, Condvar, Mutex};
use loom::thread;

use super::Idle;
use crate::sched::loom::{check, check_bounded, check_long};

/// One permit, as in the parker of a worker.
#[derive(Default)]
struct Permit {
    given: Mutex<bool>,
    changed: Condvar,
}

impl Permit {
    fn park(&self) {
        let mut given = self.given.lock();
        while !std::mem::take(&mut *given) {
            given = self.changed.wait(given);
        }
    }

    fn unpark(&self) {
        *self.given.lock() = true;
        self.changed.notify_one();
    }
}

struct Pool<const WORKERS: usize> {
    idle: Idle,
    tasks: AtomicUsize,
    permits: [Permit; WORKERS],
}

impl<const WORKERS: usize> Pool<WORKERS> {
    fn new() -> Arc<Self> {
        let permits = std::array::from_fn(|_| Permit::default());
        Arc::new(Self { idle: Idle::new(WORKERS), tasks: AtomicUsize::new(0), permits })
    }

    fn has_tasks(&self) -> bool {
        self.tasks.load(Ordering::Relaxed) > 0
    }

    fn take(&self) -> bool {
        let (ok, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        self.tasks.fetch_update(ok, failed, |tasks| tasks.checked_sub(1)).is_ok()
    }

    /// As a thread outside, into an inbox.
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

    /// As `Worker::search`, up to the first task.
    fn work(&self, worker: usize) {
        self.idle.start_searching();
        while !self.take() {
            self.sleep(worker);
        }
        if self.idle.found_work() && self.has_tasks() {
            asym::light();
            self.notify();
        }
    }

    /// As `Worker::sleep`.
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
/// Fails without the barrier in `fall_asleep`, without that of the pusher, and without the look
/// after `fall_asleep`.
#[test]
fn push_against_fall_asleep() {
    check(|| {
        let pool = Pool::<1>::new();
        let worker = thread::spawn({
            let pool = pool.clone();
            move || pool.work(0)
        });
        pool.push();
        worker.join().unwrap();
    });
}

/// Two tasks come while two workers search, sleep and wake. Each worker takes one, and then is busy
/// for good: so the first must not leave the second task to a worker that sleeps.
///
/// Fails without the barrier in `found_work`.
#[test]
fn push_against_a_search_that_ends() {
    check_bounded(2, || {
        let pool = Pool::<2>::new();
        let workers = [0, 1].map(|worker| {
            let pool = pool.clone();
            thread::spawn(move || pool.work(worker))
        });
        pool.push();
        pool.push();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// Two threads push one task each.
#[test]
fn push_against_push_against_fall_asleep() {
    check_long(|| {
        let pool = Pool::<2>::new();
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
