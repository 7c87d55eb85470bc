//! Models of waiting until a runtime is idle, and of stopping it: no thread is left waiting, no
//! task is left behind, and no external thread is missed.
//!
//! The code is that of `runtime_shared.rs` and `presence_cell.rs`. Workers are reduced to how they
//! fall asleep, as in `Worker::sleep`.

use std::ptr::{NonNull, null_mut};
use std::time::Duration;

use coact_sync::shim::atomic::{AtomicBool, AtomicPtr, Ordering};
use coact_sync::shim::sync::{Arc, Mutex};
use loom::thread;

use super::RuntimeShared;
use crate::runtime::config_in_model;
use crate::runtime_ids::RuntimeId;
use crate::sched::idleness::RuntimeActivity;
use crate::sched::loom::{check, check_bounded};
use crate::sched::presence_cell::{ExternalThreads, PresenceCell};
use crate::task::{RunContext, RunMode, Task, TaskPtr, TaskVTable};

/// A time that never passes in a model.
const EVER: Duration = Duration::from_secs(1);

fn runtime(workers: usize) -> Arc<RuntimeShared> {
    let (shared, parkers) =
        RuntimeShared::new(RuntimeId::from_raw(1), config_in_model(workers), None);
    // No thread parks.
    drop(parkers);
    Arc::new(shared)
}

impl RuntimeShared {
    /// Like `Worker::sleep` up to where it parks.
    fn fall_asleep_in_model(&self, worker: usize) {
        self.idle.fall_asleep(worker);
        assert!(!self.has_tasks());
        self.tell_if_idle();
    }
}

/// The last outstanding work ends while the only worker falls asleep: one of the two notifies the
/// waiter.
///
/// Fails without the fence in `end_outstanding`, and without that in `fall_asleep`.
#[test]
fn end_outstanding_against_fall_asleep() {
    check_bounded(3, || {
        let shared = runtime(1);
        shared.begin_outstanding();
        shared.idle.start_searching();
        let worker = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.fall_asleep_in_model(0)
        });
        let ender = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.end_outstanding()
        });
        assert!(shared.wait_idle_for(EVER));
        worker.join().unwrap();
        ender.join().unwrap();
    });
}

/// A worker begins outstanding work and falls asleep: a thread that finds all workers asleep sees
/// the work.
///
/// Fails if `SleepingWorkers::fall_asleep` counts the sleeper with `Relaxed`, or
/// `SleepingWorkers::sleeping` reads it so.
#[test]
fn outstanding_work_of_a_sleeper_is_seen() {
    check(|| {
        let shared = runtime(1);
        shared.idle.start_searching();
        let worker = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.begin_outstanding();
                shared.fall_asleep_in_model(0);
            }
        });
        assert!(!shared.is_idle());
        worker.join().unwrap();
        assert!(!shared.is_idle());
    });
}

/// A thread that has waited for idleness sees what the workers have done, by whatever means.
///
/// Fails if `SleepingWorkers::fall_asleep` counts the sleeper with `Relaxed`, or
/// `SleepingWorkers::sleeping` reads it so.
#[test]
fn what_workers_did_is_seen_by_who_waits() {
    check_bounded(3, || {
        let shared = runtime(2);
        let done: [_; 2] = std::array::from_fn(|_| Arc::new(AtomicBool::new(false)));
        shared.idle.start_searching();
        shared.idle.start_searching();
        let workers = [0, 1].map(|worker| {
            let (shared, done) = (Arc::clone(&shared), Arc::clone(&done[worker]));
            thread::spawn(move || {
                done.store(true, Ordering::Relaxed);
                shared.fall_asleep_in_model(worker);
            })
        });
        assert!(shared.wait_idle_for(EVER));
        assert!(done.iter().all(|done| done.load(Ordering::Relaxed)));
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// A runtime with one worker, and a thread that may become its external thread.
struct VisitedRuntime {
    shared: Arc<RuntimeShared>,
    external_threads: ExternalThreads,
    cell: std::sync::Arc<PresenceCell>,
}

impl VisitedRuntime {
    fn new() -> Arc<Self> {
        let (shared, external_threads) = (runtime(1), ExternalThreads::default());
        shared.idle.start_searching();
        let cell = external_threads.register();
        Arc::new(Self { shared, external_threads, cell })
    }

    /// Acts as an external thread that leaves work behind.
    fn visit<R>(&self, then: impl FnOnce() -> R) -> R {
        let _presence = self.cell.enter(self.shared.id).expect("it is not present anywhere");
        let done = then();
        self.shared.begin_outstanding();
        done
    }

    /// Like `RuntimeShared::activity`.
    fn activity(&self) -> RuntimeActivity {
        let is_quiet = || self.shared.is_quiet();
        let is_it = |id| id == self.shared.id;
        RuntimeActivity::look(is_quiet, || self.external_threads.count(&is_it) > 0, is_quiet)
    }
}

/// A thread is an external thread of a runtime whose workers sleep, and leaves work, while another
/// checks: the runtime is not found idle, or the external thread came after the check had begun,
/// and knows what came before that.
///
/// Fails without the barrier in `PresenceCell::enter`, without that in `ExternalThreads::count`,
/// with a `Relaxed` store at the end of a `ThreadPresence`, with a `Relaxed` load in `count`, and
/// if `RuntimeActivity::look` omits the second check for quiescence.
#[test]
fn an_external_thread_against_a_look() {
    check(|| {
        let runtime = VisitedRuntime::new();
        runtime.shared.idle.fall_asleep(0);
        let begun = Arc::new(AtomicBool::new(false));
        let external = thread::spawn({
            let (runtime, begun) = (Arc::clone(&runtime), Arc::clone(&begun));
            move || runtime.visit(|| begun.load(Ordering::Relaxed))
        });
        begun.store(true, Ordering::Relaxed);
        let activity = runtime.activity();
        let came_later = external.join().unwrap();
        assert!(came_later || activity != RuntimeActivity::Idle, "a external was missed");
    });
}

/// A worker falls asleep after an external thread has arrived, which then leaves work: there is no
/// moment without a thread at work, so the runtime is not found idle.
///
/// Fails without the barrier in `PresenceCell::enter`, without that in `ExternalThreads::count`,
/// with a `Relaxed` store at the end of a `ThreadPresence`, with a `Relaxed` load in `count`, and
/// if `RuntimeActivity::look` omits either check for quiescence.
#[test]
fn an_external_thread_that_a_worker_has_seen() {
    check_bounded(3, || {
        let runtime = VisitedRuntime::new();
        let is_there = Arc::new(AtomicBool::new(false));
        let external = thread::spawn({
            let (runtime, is_there) = (Arc::clone(&runtime), Arc::clone(&is_there));
            move || runtime.visit(|| is_there.store(true, Ordering::Relaxed))
        });
        let worker = thread::spawn({
            let runtime = Arc::clone(&runtime);
            move || {
                if is_there.load(Ordering::Relaxed) {
                    runtime.shared.idle.fall_asleep(0);
                }
            }
        });
        assert_ne!(runtime.activity(), RuntimeActivity::Idle);
        external.join().unwrap();
        worker.join().unwrap();
    });
}

/// A task that records how it was run.
#[repr(C)]
struct NotedTask {
    task: Task,
    link: AtomicPtr<()>,
    ran_as: Arc<Mutex<Option<RunMode>>>,
}

impl NotedTask {
    fn task() -> (TaskPtr, Arc<Mutex<Option<RunMode>>>) {
        static VTABLE: TaskVTable = TaskVTable::new(NotedTask::run, NotedTask::link, || "noted");
        let ran_as = Arc::new(Mutex::new(None));
        let task = Task { vtable: &VTABLE };
        let noted =
            Box::new(Self { task, link: AtomicPtr::new(null_mut()), ran_as: Arc::clone(&ran_as) });
        (NonNull::from(Box::leak(noted)).cast(), ran_as)
    }

    /// # Safety
    /// The task was created by `task`, and is run once.
    unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        // SAFETY: the task was created from a box of this type, and is run once.
        let noted = unsafe { Box::from_raw(task.cast::<Self>().as_ptr()) };
        assert_eq!(noted.ran_as.lock().replace(context.mode()), None);
        None
    }

    /// # Safety
    /// The task was created by `task`, and has not run.
    unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
        // SAFETY: the task is live, and of this type.
        NonNull::from(unsafe { &task.cast::<Self>().as_ref().link })
    }
}

/// A ready task, on its way to another thread.
struct SentTask(TaskPtr);

// SAFETY: a ready task may run anywhere.
unsafe impl Send for SentTask {}

impl SentTask {
    fn leave_in(self, shared: &RuntimeShared) {
        shared.leave(self.0);
    }
}

/// A task is left while the runtime stops: one thread or the other runs it, without its body.
///
/// Fails without the fence in `close`, and without that in `notify_of_inbox`.
#[test]
fn submit_against_stop() {
    check(|| {
        let shared = runtime(1);
        let (task, ran_as) = NotedTask::task();
        let submitter = thread::spawn({
            let (shared, task) = (Arc::clone(&shared), SentTask(task));
            move || task.leave_in(&shared)
        });
        shared.close();
        shared.cancel_inboxes();
        submitter.join().unwrap();
        assert!(!shared.has_tasks());
        assert_eq!(*ran_as.lock(), Some(RunMode::Cancel));
    });
}
