//! Models of waiting until several runtimes are idle: no thread is left waiting, and no work is
//! missed.

use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::task::Wake;

use coact_sync::shim::atomic::{AtomicBool, AtomicPtr, Ordering, fence};
use loom::thread;

use super::{RuntimeActivity, RuntimeShared, activity};
use crate::runtime::config_in_model;
use crate::runtime_ids::RuntimeId;
use crate::sched::idle_waiters::{IdleWatch, WATCHERS};
use crate::sched::loom::{WakePermit, check, check_bounded};
use crate::task::{RunContext, Task, TaskPtr, TaskVTable};

impl Wake for WakePermit {
    fn wake(self: Arc<Self>) {
        self.unpark();
    }
}

/// Reduced to a flag for quiescence, which is read with the weakest orderings: `tell` does not rely
/// on anything before it.
#[derive(Default)]
struct QuietRuntime {
    is_quiet: AtomicBool,
}

impl QuietRuntime {
    fn become_quiet(&self) {
        self.is_quiet.store(true, Ordering::Relaxed);
        WATCHERS.tell();
    }

    fn is_quiet(&self) -> bool {
        self.is_quiet.load(Ordering::Relaxed)
    }
}

/// Like `wait`.
fn wait(runtimes: &[Arc<QuietRuntime>]) {
    let permit = Arc::<WakePermit>::default();
    let _watch = IdleWatch::new(Arc::clone(&permit).into());
    while !runtimes.iter().all(|runtime| runtime.is_quiet()) {
        permit.park();
    }
}

/// Two runtimes become quiet while a thread begins to wait for both: the last of them that the
/// thread has not seen notifies it.
///
/// Fails without the fence in `IdleWatchers::add`, and without that in `IdleWatchers::tell`.
#[test]
fn watch_against_tell() {
    check(|| {
        let runtimes = [(); 2].map(|()| Arc::<QuietRuntime>::default());
        let threads = [0, 1].map(|runtime| {
            let runtime = Arc::clone(&runtimes[runtime]);
            thread::spawn(move || runtime.become_quiet())
        });
        wait(&runtimes);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// One waiter leaves while another begins to wait: the second is notified all the same.
///
/// Fails if `IdleWatchers::add` or `IdleWatchers::remove` sets the count instead of changing it.
#[test]
fn watch_against_one_that_ends() {
    check(|| {
        let runtime = Arc::<QuietRuntime>::default();
        let first = IdleWatch::new(Arc::<WakePermit>::default().into());
        let others = [
            thread::spawn(move || drop(first)),
            thread::spawn({
                let runtime = Arc::clone(&runtime);
                move || runtime.become_quiet()
            }),
        ];
        wait(&[runtime]);
        others.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A task that is sent on, and never runs.
#[repr(C)]
struct SentToken {
    task: Task,
    link: AtomicPtr<()>,
}

impl SentToken {
    fn task() -> TaskPtr {
        let link = AtomicPtr::new(null_mut());
        let token = Box::new(Self { task: Task { vtable: &VTABLE }, link });
        NonNull::from(Box::leak(token)).cast()
    }

    /// # Safety
    /// The task was created by `task`, and is freed once.
    unsafe fn free(task: TaskPtr) {
        // SAFETY: the task was created by `task` from such a box, and is freed once.
        drop(unsafe { Box::from_raw(task.cast::<Self>().as_ptr()) });
    }
}

static VTABLE: TaskVTable = TaskVTable::new(run, link, || "token");

unsafe fn run(_: TaskPtr, _: &RunContext) -> Option<TaskPtr> {
    unreachable!("it is sent on")
}

unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: every task of these models is a token.
    NonNull::from(unsafe { &task.cast::<SentToken>().as_ref().link })
}

/// A runtime with one worker.
struct OneWorker {
    shared: RuntimeShared,
    permit: WakePermit,
}

impl OneWorker {
    /// Its worker sleeps.
    fn new(id: u16) -> Self {
        let (shared, parkers) =
            RuntimeShared::new(RuntimeId::from_raw(id), config_in_model(1), None);
        // No thread parks.
        drop(parkers);
        shared.idle.start_searching();
        shared.idle.fall_asleep(0);
        Self { shared, permit: WakePermit::default() }
    }

    /// Like `RuntimeShared::leave`.
    fn leave(&self, task: TaskPtr) {
        // SAFETY: the task is ready, and owned by this function.
        unsafe { self.shared.workers[0].inbox.push(task) };
        // ORDERING: SeqCst, as in `RuntimeShared::notify_of_inbox`, which this replaces.
        fence(Ordering::SeqCst);
        if self.shared.idle.choose_sleeper().is_some() {
            self.permit.unpark();
        }
    }

    /// Like `Worker::search`, for a worker that sleeps. It then counts as awake.
    fn receive(&self) -> TaskPtr {
        loop {
            if !self.shared.has_tasks() || !self.shared.idle.wake_up(0) {
                self.permit.park();
                self.shared.idle.wake_up(0);
            }
            if let Some(task) = self.shared.workers[0].inbox.take_all().next() {
                self.shared.idle.found_work();
                return task;
            }
            self.shared.idle.fall_asleep(0);
        }
    }

    /// Like `Worker::take`, for a worker without tasks of its own, and like `Worker::sleep`.
    fn rest(&self) {
        let ticks = &self.shared.workers[0].ticks;
        ticks.store(ticks.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.shared.idle.start_searching();
        self.shared.idle.fall_asleep(0);
    }
}

/// A task is sent to and fro between two runtimes, and is always in the one that is not being
/// checked: they are not found idle.
///
/// Fails if the stamps are not compared.
#[test]
fn a_look_against_a_task_that_moves() {
    check_bounded(3, || {
        let hosts = Arc::new([OneWorker::new(1), OneWorker::new(2)]);
        hosts[1].leave(SentToken::task());
        let workers = [0, 1].map(|me| {
            let hosts = Arc::clone(&hosts);
            thread::spawn(move || {
                let (here, there) = (&hosts[me], &hosts[1 - me]);
                there.leave(here.receive());
                here.rest();
                let task = here.receive();
                if me == 0 {
                    // SAFETY: no other thread has it. The worker stays awake.
                    return unsafe { SentToken::free(task) };
                }
                there.leave(task);
                here.rest();
            })
        });
        let [x, y] = &*hosts;
        assert_eq!(activity(&[&x.shared, &y.shared]), RuntimeActivity::Work);
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}
