//! Models of jobs that one worker must do: none is missed, and none is lost at the worker's end.
//!
//! The worker is that of `worker.rs`, reduced to what matters here: look, fall asleep, look once
//! more, park. A lost wake-up shows as a deadlock, which loom reports.

use coact_sync::shim::atomic::{AtomicUsize, Ordering, fence};
use coact_sync::shim::sync::Arc;
use loom::thread;

use super::{BoundJobs, BoundWork};
use crate::sched::loom::{WakePermit, check};
use crate::sched::sleepers::SleepingWorkers;

struct JobPool {
    idle: SleepingWorkers,
    jobs: BoundJobs,
    permit: WakePermit,
    done: AtomicUsize,
}

impl JobPool {
    fn new() -> Arc<Self> {
        let (idle, jobs) = (SleepingWorkers::new(1), BoundJobs::new());
        Arc::new(Self { idle, jobs, permit: WakePermit::default(), done: AtomicUsize::new(0) })
    }

    /// Like `WorkerPlace::call`. Returns whether the worker accepts it.
    fn call(this: &Arc<Self>) -> bool {
        let pool = Arc::clone(this);
        let job = move || _ = pool.done.fetch_add(1, Ordering::Relaxed);
        let is_accepted = this.jobs.push(BoundWork::Job(Box::new(job))).is_ok();
        // ORDERING: SeqCst pairs with the fence in `fall_asleep`, as in `WorkerPlace::call`.
        fence(Ordering::SeqCst);
        if is_accepted && this.idle.call(0) {
            this.permit.unpark();
        }
        is_accepted
    }

    fn do_jobs(&self) -> bool {
        if self.jobs.is_empty() {
            return false;
        }
        while let Some(BoundWork::Job(job)) = self.jobs.take() {
            job();
        }
        true
    }

    /// Like `Worker::search`, up to the first job.
    fn work(&self) {
        self.idle.start_searching();
        while !self.do_jobs() {
            self.idle.fall_asleep(0);
            if self.jobs.is_empty() {
                self.permit.park();
                self.idle.wake_up(0);
            } else if !self.idle.wake_up(0) {
                self.permit.park();
            }
        }
        self.idle.found_work();
    }
}

/// A job comes while the worker falls asleep.
///
/// Fails without the fence in `fall_asleep`, without that of the caller, and without the look after
/// `fall_asleep`.
#[test]
fn call_against_fall_asleep() {
    check(|| {
        let pool = JobPool::new();
        let worker = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.work()
        });
        assert!(JobPool::call(&pool));
        worker.join().unwrap();
        assert_eq!(pool.done.load(Ordering::Relaxed), 1);
    });
}

/// A job comes while the worker ends: it is done, or refused.
///
/// Fails if `close_if_empty` closes without looking.
#[test]
fn call_against_the_end() {
    check(|| {
        let pool = JobPool::new();
        let worker = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                while !pool.jobs.close_if_empty() {
                    pool.do_jobs();
                }
            }
        });
        let accepted = usize::from(JobPool::call(&pool));
        worker.join().unwrap();
        assert_eq!(pool.done.load(Ordering::Relaxed), accepted);
    });
}
