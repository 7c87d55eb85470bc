//! What the workers of one runtime share.

use std::time::Duration;

use coact_sync::CachePadded;
use coact_sync::shim::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
use coact_sync::shim::sync::{Condvar, Mutex};
use parking::Parker;

use super::bound_jobs::BoundJobs;
use super::clock::RuntimeClock;
use super::hosted::hosted_workers::HostedWorkers;
use super::inbox::Inbox;
use super::local::LocalQueue;
use super::outstanding::OutstandingWork;
use super::phase::RuntimePhase;
use super::pump_state::PumpState;
use super::service_table::ServiceTable;
use super::sleepers::SleepingWorkers;
use super::tracked_thread::TrackedThread;
use super::watchdog::current_task::CurrentTask;
use super::watchdog::state::Watchdog;
use super::worker_shared::WorkerShared;
use crate::config::ThreadKind;
use crate::config::{self, WorkerConfig};
use crate::runtime_ids::{RuntimeId, RuntimeTable};
use crate::simulated;
use crate::task::{RunContext, RunMode, TaskPtr};

/// A runtime. It is never freed (the registry hands out `&'static`), but what it owns is freed when
/// it is shut down.
pub(crate) struct RuntimeShared {
    pub(crate) id: RuntimeId,
    pub(crate) config: WorkerConfig,
    pub(crate) workers: Box<[CachePadded<WorkerShared>]>,
    pub(crate) idle: CachePadded<SleepingWorkers>,
    pub(super) clock: RuntimeClock,
    pub(super) services: ServiceTable,
    /// Its workers, and the threads that look after them.
    pub(crate) threads: Mutex<Vec<TrackedThread>>,
    /// Where its tasks go if it has no workers.
    elsewhere: Option<TaskForwarder>,
    phase: CachePadded<AtomicU8>,
    /// How tasks must run, according to the phase.
    context: CachePadded<RunContext>,
    /// Work that is in no queue.
    pub(super) outstanding: CachePadded<OutstandingWork>,
    watchdog: Option<Watchdog>,
    /// What a pumped runtime has besides its worker.
    pub(super) pump: Option<PumpState>,
    /// What a runtime has whose workers an executor hosts.
    hosted: Option<HostedWorkers>,
    /// The number of bodies that were dropped instead of run.
    pub(crate) abandoned: AtomicUsize,
    /// The number of tasks that were run without their bodies once a runtime had stopped: its own,
    /// and those of others that threads at work for it have met.
    pub(super) cancelled: AtomicCounter,
    /// The live cowns of the runtime were told to end, or are about to be.
    pub(crate) ending: AtomicBool,
    /// How many workers, or threads in their place, have not ended yet.
    pub(crate) alive: Mutex<usize>,
    /// Signals idleness, and the end of workers.
    pub(crate) changed: Condvar,
}

/// Takes a task of a runtime without workers.
pub(crate) type TaskForwarder = fn(&'static RuntimeShared, TaskPtr);

impl RuntimeShared {
    /// Creates a runtime's shared part, and the parkers for its workers, followed by that of the
    /// monitor if it has one.
    pub(crate) fn new(
        id: RuntimeId,
        config: WorkerConfig,
        elsewhere: Option<TaskForwarder>,
    ) -> (Self, Vec<Parker>) {
        // Only workers sleep and wake up here; other hosts have their own mechanisms.
        let count = match config.host {
            ThreadKind::Workers | ThreadKind::Executor | ThreadKind::Pump => config.workers,
            ThreadKind::Blocking => 0,
        };
        let alive = match config.host {
            _ if config.simulated => 0,
            ThreadKind::Workers => config.workers,
            // The monitor counts as well.
            ThreadKind::Executor => config.workers + 1,
            // The pump, or the pool, as long as it serves.
            ThreadKind::Pump | ThreadKind::Blocking => 1,
        };
        let pump = (config.host == ThreadKind::Pump).then(PumpState::new);
        let (hosted, monitor) = (config.host == ThreadKind::Executor && !config.simulated)
            .then(|| HostedWorkers::new(count))
            .unzip();
        let (mut parkers, workers) = (0..count)
            .map(|_| {
                let (parker, unparker) = parking::pair();
                let worker = WorkerShared {
                    local: LocalQueue::new(),
                    inbox: CachePadded::new(Inbox::new()),
                    bound: CachePadded::new(BoundJobs::new()),
                    ticks: AtomicU64::new(0),
                    asker: AtomicUsize::new(0),
                    keeps_until: AtomicU64::new(0),
                    mark: CurrentTask::new(),
                    ended: AtomicBool::new(false),
                    unparker,
                };
                (parker, CachePadded::new(worker))
            })
            .unzip::<_, _, Vec<_>, Vec<_>>();
        parkers.extend(monitor);
        let watchdog = Watchdog::new(&config);
        let context = RunContext::new(id, RunMode::Run);
        let context = if watchdog.is_some() { context.watched() } else { context };
        let shared = Self {
            id,
            workers: workers.into(),
            idle: CachePadded::new(SleepingWorkers::new(count)),
            clock: RuntimeClock::start(),
            services: ServiceTable::default(),
            threads: Mutex::new(Vec::new()),
            elsewhere,
            phase: CachePadded::new(AtomicU8::new(RuntimePhase::Running as u8)),
            context: CachePadded::new(context),
            outstanding: CachePadded::new(OutstandingWork::new()),
            watchdog,
            pump,
            hosted,
            abandoned: AtomicUsize::new(0),
            cancelled: AtomicCounter::new(0),
            ending: AtomicBool::new(false),
            alive: Mutex::new(alive),
            changed: Condvar::new(),
            config,
        };
        (shared, parkers)
    }

    /// Returns the time since its creation: virtual if it is simulated.
    pub(crate) fn elapsed(&self) -> Duration {
        let simulated = if self.config.simulated { simulated::now() } else { None };
        simulated.map_or_else(|| self.clock.elapsed(), Duration::from_nanos)
    }

    /// Returns the watchdog, if there is one.
    pub(crate) fn watchdog(&self) -> Option<&Watchdog> {
        self.watchdog.as_ref()
    }

    pub(crate) fn phase(&self) -> RuntimePhase {
        // ORDERING: Acquire pairs with the Release in `set_phase`.
        match self.phase.load(Ordering::Acquire) {
            0 => RuntimePhase::Running,
            1 => RuntimePhase::Cancelling,
            _ => RuntimePhase::Stopped,
        }
    }

    /// Advances to a later phase of its lifecycle; there is no way back.
    pub(crate) fn set_phase(&self, phase: RuntimePhase) {
        if phase != RuntimePhase::Running {
            self.context.cancel();
        }
        // ORDERING: Release pairs with the Acquire in `phase`: a thread that has seen a phase runs
        // tasks as it says.
        self.phase.fetch_max(phase as u8, Ordering::Release);
    }

    /// Returns how tasks must run now.
    #[inline]
    pub(crate) fn run_context(&self) -> &RunContext {
        &self.context
    }

    /// Called after tasks were left in an inbox: wakes a worker, if one sleeps and none searches.
    pub(crate) fn notify_of_inbox(&self) {
        // ORDERING: SeqCst, for the store-load order between the push and the check of the
        // sleepers; pairs with the fence in `SleepingWorkers::fall_asleep`.
        fence(Ordering::SeqCst);
        if let Some(worker) = self.idle.choose_sleeper() {
            self.unpark(worker);
            self.tell_pump();
        }
    }

    /// Called by the last searching worker after it has found something: a thread that left a task
    /// meanwhile relied on this worker to ensure that it is run. `SleepingWorkers::found_work` has
    /// executed the fence before this check that pairs with the one in `notify_of_inbox`.
    pub(crate) fn notify_of_rest(&self) {
        if self.has_tasks_in_inboxes() {
            self.notify_of_inbox();
        }
    }

    pub(crate) fn unpark(&self, worker: usize) {
        match &self.hosted {
            None => _ = self.workers[worker].unparker.unpark(),
            Some(hosted) => hosted.call(worker),
        }
    }

    /// Makes all workers see that the runtime has stopped.
    fn unpark_all(&self) {
        match &self.hosted {
            None => (0..self.workers.len()).for_each(|worker| self.unpark(worker)),
            Some(hosted) => hosted.stop(),
        }
    }

    /// Returns its workers if an executor hosts them.
    pub(crate) fn hosted(&self) -> Option<&HostedWorkers> {
        self.hosted.as_ref()
    }

    /// Returns whether some queue has a task that any worker may take, or a job that one must do.
    pub(crate) fn has_tasks(&self) -> bool {
        let has_some = |worker: &WorkerShared| worker.local.len() > 0 || !worker.bound.is_empty();
        self.workers.iter().any(|worker| has_some(worker)) || self.has_tasks_in_inboxes()
    }

    /// The same, except for tasks that a worker keeps; a hint.
    pub(super) fn has_tasks_to_share(&self) -> bool {
        self.workers.iter().any(|worker| worker.has_tasks_to_share(&self.clock))
            || self.has_tasks_in_inboxes()
    }

    /// Returns whether an inbox has one: it runs only if a worker looks there.
    pub(super) fn has_tasks_in_inboxes(&self) -> bool {
        self.workers.iter().any(|worker| !worker.inbox.is_empty())
    }

    /// Adds a ready task from a thread that is not a worker of this runtime.
    fn submit(&'static self, task: TaskPtr) {
        match self.elsewhere {
            Some(take) => take(self, task),
            None => self.leave(task),
        }
    }

    /// Adds a ready task where the workers look.
    fn leave(&self, task: TaskPtr) {
        let inbox = &self.workers[inbox_of_this_thread(self.workers.len())].inbox;
        // SAFETY: the task is ready, and owned by this function.
        unsafe { inbox.push(task) };
        self.look_after_inbox();
    }

    /// The same for tasks that a thread has taken and does not run.
    pub(super) fn submit_all(&self, tasks: impl IntoIterator<Item = TaskPtr>) {
        let mut tasks = tasks.into_iter().peekable();
        if tasks.peek().is_none() {
            return;
        }
        let inbox = &self.workers[inbox_of_this_thread(self.workers.len())].inbox;
        // SAFETY: the tasks are ready, and owned by this function.
        unsafe { inbox.push_all(tasks) };
        self.look_after_inbox();
    }

    /// Called after a thread that is not a worker has left tasks in an inbox.
    fn look_after_inbox(&self) {
        self.notify_of_inbox();
        // The fence in `notify_of_inbox` orders the push before this check, that in `close` the
        // phase before a look into the inboxes: one of the two sees the other.
        if self.phase() == RuntimePhase::Stopped {
            self.cancel_inboxes();
        }
    }

    /// Accepts no more tasks: the workers end. The caller handles what is left in the inboxes.
    pub(crate) fn close(&self) {
        self.set_phase(RuntimePhase::Stopped);
        // ORDERING: SeqCst pairs with the fence in `notify_of_inbox`: either a thread that leaves a
        // task sees the phase, or a look into the inboxes after this sees the task.
        fence(Ordering::SeqCst);
        self.unpark_all();
        self.tell();
    }
}

/// Distributes outside threads over the inboxes; each thread keeps its inbox.
fn inbox_of_this_thread(inboxes: usize) -> usize {
    static THREADS: AtomicCounter = AtomicCounter::new(0);
    thread_local! {
        static NUMBER: usize = THREADS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    NUMBER.try_with(|number| *number).unwrap_or(0) % inboxes
}

type AtomicCounter = std::sync::atomic::AtomicUsize;

/// Passes a ready task to a runtime of which this thread is not a worker.
#[cold]
pub(crate) fn submit(task: TaskPtr, home: RuntimeId) {
    get(home).submit(task);
}

/// All runtimes that ever existed, by id.
static REGISTRY: RuntimeTable<RuntimeShared> = RuntimeTable::new();

/// Registers a runtime under its id.
pub(crate) fn register(shared: &'static RuntimeShared) {
    config::register(shared.id, &shared.config);
    REGISTRY.register(shared.id, shared);
}

/// Returns whether there is a runtime with this id; in most models there is none.
pub(crate) fn is_registered(id: RuntimeId) -> bool {
    find(id).is_some()
}

/// Returns the runtime with this id, if there is one.
pub(super) fn find(id: RuntimeId) -> Option<&'static RuntimeShared> {
    REGISTRY.find(id)
}

/// Returns the runtime with this id.
pub(crate) fn get(id: RuntimeId) -> &'static RuntimeShared {
    REGISTRY.find(id).expect("ids are given out with their runtime")
}

#[cfg(all(test, loom))]
mod loom;
