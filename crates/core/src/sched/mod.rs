//! The scheduler: workers, their queues, stealing and sleeping. See README.md.

mod bound_jobs;
mod cancel;
mod clock;
pub(crate) mod context;
pub(crate) mod ending;
#[cfg_attr(all(test, loom), path = "external_threads_in_model.rs")]
pub(crate) mod external_threads;
pub(crate) mod hold_open;
pub(crate) mod hosted;
pub(crate) mod idle_waiters;
pub(crate) mod idleness;
pub(crate) mod inbox;
pub(crate) mod joint_idleness;
pub(crate) mod local;
#[cfg(all(test, loom))]
pub(crate) mod loom;
mod outstanding;
pub(crate) mod phase;
mod presence_cell;
pub(crate) mod pump;
mod pump_state;
pub(crate) mod refuse_outside_simulation;
pub(crate) mod runtime_handle;
pub(crate) mod runtime_shared;
mod search_patience;
mod service_table;
pub(crate) mod services;
mod share_policy;
pub(crate) mod sleepers;
pub(crate) mod start;
pub(crate) mod stuck_thread;
pub(crate) mod thread_hooks;
pub(crate) mod tracked_thread;
mod trim;
pub(crate) mod watchdog;
pub(crate) mod worker;
mod worker_shared;

#[cfg(all(test, loom))]
pub(crate) use self::loom::{schedule, schedule as schedule_last};
use crate::runtime_ids::RuntimeId;
use crate::simulated;
use crate::task::TaskPtr;

/// Passes a ready task to its runtime: to the current worker, if that belongs to the runtime.
#[cfg(not(all(test, loom)))]
#[inline]
pub(crate) fn schedule(task: TaskPtr, home: RuntimeId) {
    match context::worker() {
        Some(worker) if worker.id() == home => worker.push(task),
        _ => runtime_shared::submit(task, home),
    }
}

/// Passes a task that has had its share to its runtime: behind all others, where there is an order.
#[cfg(not(all(test, loom)))]
pub(crate) fn schedule_last(task: TaskPtr, home: RuntimeId) {
    match context::worker() {
        Some(worker) if worker.id() == home => worker.push_aged(task),
        _ => runtime_shared::submit(task, home),
    }
}

/// Says that the behaviour running on this thread has sent to an overloaded queue: what follows the
/// behaviour gives way to others. README.md, "Giving way".
#[cold]
pub(crate) fn give_way(to: *const ()) {
    if let Some(worker) = context::worker() {
        worker.give_way(to);
    }
}

/// Runs `work` that creates work for a runtime: as one of its workers, or as an [external thread],
/// so that the runtime does not count as idle meanwhile.
#[inline]
pub(crate) fn at_work_in<R>(home: RuntimeId, work: impl FnOnce() -> R) -> R {
    if context::worker().is_some() {
        return work();
    }
    simulated::point();
    external_threads::within(home, work)
}

/// Like [`at_work_in`], until the returned value is dropped: for work that is too large to be
/// compiled twice, once for workers and once for external threads.
///
/// # Safety
/// The caller drops it before it returns.
#[inline]
pub(crate) unsafe fn enter(home: RuntimeId) -> Option<external_threads::ExternalPresence> {
    if context::worker().is_some() {
        return None;
    }
    simulated::point();
    // SAFETY: the caller drops the presence before it returns.
    Some(unsafe { external_threads::enter(home) })
}

/// Receives the tasks that an operation on the queues makes ready, each with its runtime.
pub(crate) trait ReadySink {
    fn ready(&mut self, task: TaskPtr, home: RuntimeId);

    /// The same for a task that is accepted only if this runs no foreign code; returns whether it
    /// was.
    #[inline]
    fn offer(&mut self, task: TaskPtr, home: RuntimeId) -> bool {
        offer_to_worker(task, home)
    }
}

impl<F: FnMut(TaskPtr, RuntimeId)> ReadySink for F {
    #[inline]
    fn ready(&mut self, task: TaskPtr, home: RuntimeId) {
        self(task, home);
    }
}

/// Keeps the first task that a finished behaviour makes ready on its own runtime, to be run next on
/// this thread; schedules the others.
pub(crate) struct Successor {
    home: RuntimeId,
    task: Option<TaskPtr>,
}

impl Successor {
    #[inline]
    pub(crate) fn new(home: RuntimeId) -> Self {
        Self { home, task: None }
    }

    #[inline]
    pub(crate) fn take(self) -> Option<TaskPtr> {
        self.task
    }
}

impl ReadySink for Successor {
    #[inline]
    fn ready(&mut self, task: TaskPtr, home: RuntimeId) {
        if !self.offer(task, home) {
            schedule(task, home);
        }
    }

    #[inline]
    fn offer(&mut self, task: TaskPtr, home: RuntimeId) -> bool {
        if self.task.is_none() && home == self.home {
            self.task = Some(task);
            return true;
        }
        offer_to_worker(task, home)
    }
}

/// Passes a ready task to the current worker, if that belongs to the task's runtime; returns
/// whether it does.
#[inline]
pub(crate) fn offer_to_worker(task: TaskPtr, home: RuntimeId) -> bool {
    match context::worker() {
        Some(worker) if worker.id() == home => {
            worker.push(task);
            true
        }
        _ => false,
    }
}

/// Receives what becomes ready while requests are half queued or cowns half released, and keeps the
/// tasks of other runtimes until that is over: passing one on may run user code, such as a pump's
/// hook or, if the runtime is shut down, the destructors of what cannot run any more. Such code may
/// wait for a thread that waits for the remaining steps.
pub(crate) struct DeferredReady<'a, R> {
    ready: &'a mut R,
    /// Usually none.
    kept: Option<Box<KeptTasks>>,
}

type KeptTasks = Vec<(TaskPtr, RuntimeId)>;

impl<'a, R: ReadySink> DeferredReady<'a, R> {
    #[inline]
    pub(crate) fn new(ready: &'a mut R) -> Self {
        Self { ready, kept: None }
    }

    /// Passes on what was kept.
    #[inline]
    pub(crate) fn finish(self) {
        if let Some(kept) = self.kept {
            hand_over(*kept);
        }
    }
}

impl<R: ReadySink> ReadySink for DeferredReady<'_, R> {
    #[inline]
    fn ready(&mut self, task: TaskPtr, home: RuntimeId) {
        if !self.offer(task, home) {
            keep(&mut self.kept, task, home);
        }
    }

    #[inline]
    fn offer(&mut self, task: TaskPtr, home: RuntimeId) -> bool {
        self.ready.offer(task, home)
    }
}

#[cold]
fn keep(kept: &mut Option<Box<KeptTasks>>, task: TaskPtr, home: RuntimeId) {
    kept.get_or_insert_default().push((task, home));
}

#[cold]
fn hand_over(kept: KeptTasks) {
    kept.into_iter().for_each(|(task, home)| schedule(task, home));
}
