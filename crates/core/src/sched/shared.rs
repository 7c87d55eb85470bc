//! What the workers of one runtime share.

use std::time::{Duration, Instant};

use coact_sync::CachePadded;
use coact_sync::shim::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
use coact_sync::shim::sync::{Condvar, Mutex};
use parking::Parker;

use super::hosted::slots::Hosted;
use super::inbox::Inbox;
use super::local::LocalQueue;
use super::phase::Phase;
use super::pump_state::PumpState;
use super::service_table::ServiceTable;
use super::sleepers::Idle;
use super::thread::Thread;
use super::watchdog::current_task::CurrentTask;
use super::watchdog::state::Watchdog;
use super::worker_shared::WorkerShared;
use crate::config::Host;
use crate::config::{self, Config};
use crate::ids::{Registry, RuntimeId};
use crate::simulated;
use crate::task::{Mode, RunContext, TaskPtr};

/// One runtime. It is never freed (the registry hands out `&'static`), but what it owns is, when it
/// is shut down.
pub(crate) struct Shared {
    pub(crate) id: RuntimeId,
    pub(crate) config: Config,
    pub(crate) workers: Box<[CachePadded<WorkerShared>]>,
    pub(crate) idle: CachePadded<Idle>,
    /// When it was made.
    start: Instant,
    pub(super) services: ServiceTable,
    /// Its workers, and who looks after them.
    pub(crate) threads: Mutex<Vec<Thread>>,
    /// Where its tasks go, if it has no workers that take them.
    elsewhere: Option<Elsewhere>,
    phase: CachePadded<AtomicU8>,
    /// How tasks are to be run: as the phase says.
    context: CachePadded<RunContext>,
    /// Work that no queue shows: pending timers, blocking jobs, futures. How much there is in the low
    /// half, and in the high half how much has ever begun.
    pub(super) outstanding: CachePadded<AtomicU64>,
    watchdog: Option<Watchdog>,
    /// What a pumped runtime has beside its worker.
    pub(super) pump: Option<PumpState>,
    /// What a runtime has whose workers an executor hosts.
    hosted: Option<Hosted>,
    /// Bodies that were dropped instead of run.
    pub(crate) abandoned: AtomicUsize,
    /// What lives in the runtime was told to end, or is about to be.
    pub(crate) ending: AtomicBool,
    /// How many workers, or what stands for them, have not ended yet.
    pub(crate) alive: Mutex<usize>,
    /// Signals idleness, and workers that end.
    pub(crate) changed: Condvar,
}

/// Takes a task of a runtime that has no workers.
pub(crate) type Elsewhere = fn(&'static Shared, TaskPtr);

impl Shared {
    /// A runtime's shared part, and the parkers for its workers, and after these that of the monitor if it has one.
    pub(crate) fn new(
        id: RuntimeId,
        config: Config,
        elsewhere: Option<Elsewhere>,
    ) -> (Self, Vec<Parker>) {
        // Only workers sleep and wake up here: other hosts have their own ways.
        let count = match config.host {
            Host::Workers | Host::Executor | Host::Pump => config.workers,
            Host::Blocking => 0,
        };
        let alive = match config.host {
            _ if config.simulated => 0,
            Host::Workers => config.workers,
            // The monitor counts as well.
            Host::Executor => config.workers + 1,
            // The pump, the pool: as long as they serve.
            Host::Pump | Host::Blocking => 1,
        };
        let pump = (config.host == Host::Pump).then(PumpState::new);
        let (hosted, monitor) = (config.host == Host::Executor && !config.simulated)
            .then(|| Hosted::new(count))
            .unzip();
        let (mut parkers, workers) = (0..count)
            .map(|_| {
                let (parker, unparker) = parking::pair();
                let worker = WorkerShared {
                    local: LocalQueue::new(),
                    inbox: CachePadded::new(Inbox::new()),
                    ticks: AtomicU64::new(0),
                    asker: AtomicUsize::new(0),
                    keeps: AtomicBool::new(false),
                    mark: CurrentTask::new(),
                    ended: AtomicBool::new(false),
                    unparker,
                };
                (parker, CachePadded::new(worker))
            })
            .unzip::<_, _, Vec<_>, Vec<_>>();
        parkers.extend(monitor);
        let shared = Self {
            id,
            workers: workers.into(),
            idle: CachePadded::new(Idle::new(count)),
            start: Instant::now(),
            services: ServiceTable::default(),
            threads: Mutex::new(Vec::new()),
            elsewhere,
            phase: CachePadded::new(AtomicU8::new(Phase::Running as u8)),
            context: CachePadded::new(RunContext::new(id, Mode::Run)),
            outstanding: CachePadded::new(AtomicU64::new(0)),
            watchdog: Watchdog::new(&config),
            pump,
            hosted,
            abandoned: AtomicUsize::new(0),
            ending: AtomicBool::new(false),
            alive: Mutex::new(alive),
            changed: Condvar::new(),
            config,
        };
        (shared, parkers)
    }

    /// The time since it was made: virtual where it is simulated.
    pub(crate) fn elapsed(&self) -> Duration {
        let simulated = if self.config.simulated { simulated::now() } else { None };
        simulated.map_or_else(|| self.start.elapsed(), Duration::from_nanos)
    }

    /// Who looks after the workers, if anybody does.
    pub(crate) fn watchdog(&self) -> Option<&Watchdog> {
        self.watchdog.as_ref()
    }

    pub(crate) fn phase(&self) -> Phase {
        // ORDERING: Acquire pairs with the release in `set_phase`.
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Running,
            1 => Phase::Cancelling,
            _ => Phase::Stopped,
        }
    }

    /// Goes on to a later phase of its life; there is no way back.
    pub(crate) fn set_phase(&self, phase: Phase) {
        if phase != Phase::Running {
            self.context.cancel();
        }
        // ORDERING: Release pairs with the acquire in `phase`: who has seen a phase runs tasks as it says.
        self.phase.fetch_max(phase as u8, Ordering::Release);
    }

    /// How tasks are to be run now.
    #[inline]
    pub(crate) fn run_context(&self) -> &RunContext {
        &self.context
    }

    /// Called after tasks were left in an inbox: wakes a worker, if one sleeps and none searches.
    pub(crate) fn notify_of_inbox(&self) {
        // ORDERING: SeqCst, for the store-load order between the push and the look at the sleepers;
        // pairs with the fence in `Idle::fall_asleep`.
        fence(Ordering::SeqCst);
        if let Some(worker) = self.idle.choose_sleeper() {
            self.unpark(worker);
            self.tell_pump();
        }
    }

    /// Called by the last worker that searched, once it has found something: whoever left a task
    /// meanwhile has left it to the searcher to see that it is run. `Idle::found_work` has put the
    /// fence before this look that pairs with the one in `notify_of_inbox`.
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

    /// Has all workers see that the runtime has stopped.
    fn unpark_all(&self) {
        match &self.hosted {
            None => (0..self.workers.len()).for_each(|worker| self.unpark(worker)),
            Some(hosted) => hosted.stop(),
        }
    }

    /// Its workers, if an executor hosts them.
    pub(crate) fn hosted(&self) -> Option<&Hosted> {
        self.hosted.as_ref()
    }

    /// Whether some queue has a task that any worker may take.
    pub(crate) fn has_tasks(&self) -> bool {
        self.workers.iter().any(|worker| worker.local.len() > 0) || self.has_tasks_in_inboxes()
    }

    /// The same, but for what a worker keeps; a hint.
    pub(super) fn has_tasks_to_share(&self) -> bool {
        // ORDERING: Relaxed. A stale value is harmless: a worker sleeps until it is woken, or searches in vain.
        let shares = |worker: &WorkerShared| !worker.keeps.load(Ordering::Relaxed);
        self.workers.iter().any(|worker| worker.local.len() > 0 && shares(worker))
            || self.has_tasks_in_inboxes()
    }

    /// Whether an inbox has one: it runs only if a worker looks there.
    pub(super) fn has_tasks_in_inboxes(&self) -> bool {
        self.workers.iter().any(|worker| !worker.inbox.is_empty())
    }

    /// Leaves a ready task from a thread that is no worker of this runtime.
    fn submit(&'static self, task: TaskPtr) {
        match self.elsewhere {
            Some(take) => take(self, task),
            None => self.leave(task),
        }
    }

    /// Leaves a ready task where the workers look.
    fn leave(&self, task: TaskPtr) {
        let inbox = &self.workers[inbox_of_this_thread(self.workers.len())].inbox;
        // SAFETY: ready, and given to us.
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
        // SAFETY: ready, and given to us.
        unsafe { inbox.push_all(tasks) };
        self.look_after_inbox();
    }

    /// Called after tasks were left in an inbox by a thread that is no worker.
    fn look_after_inbox(&self) {
        self.notify_of_inbox();
        // The fence in there orders the push before this look, that in `close` the phase before a look
        // into the inboxes: one of the two sees the other.
        if self.phase() == Phase::Stopped {
            self.cancel_inboxes();
        }
    }

    /// Takes no more tasks: the workers end. Who calls this sees to what is left in the inboxes.
    pub(crate) fn close(&self) {
        self.set_phase(Phase::Stopped);
        // ORDERING: SeqCst pairs with the fence in `notify_of_inbox`: who leaves a task sees the phase,
        // or whoever looks into the inboxes after this sees the task.
        fence(Ordering::SeqCst);
        self.unpark_all();
        self.tell();
    }
}

/// Spreads outside threads over the inboxes; each sticks to one.
fn inbox_of_this_thread(inboxes: usize) -> usize {
    static THREADS: AtomicCounter = AtomicCounter::new(0);
    thread_local! {
        static NUMBER: usize = THREADS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    NUMBER.try_with(|number| *number).unwrap_or(0) % inboxes
}

type AtomicCounter = std::sync::atomic::AtomicUsize;

/// Hands a ready task to a runtime that this thread is no worker of.
#[cold]
pub(crate) fn submit(task: TaskPtr, home: RuntimeId) {
    get(home).submit(task);
}

/// All runtimes that ever were, by id.
static REGISTRY: Registry<Shared> = Registry::new();

/// Makes a runtime known under its id.
pub(crate) fn register(shared: &'static Shared) {
    config::register(shared.id, &shared.config);
    REGISTRY.register(shared.id, shared);
}

/// Whether there is a runtime of that id: not so in most models.
pub(crate) fn is_registered(id: RuntimeId) -> bool {
    REGISTRY.find(id).is_some()
}

/// The runtime of an id.
pub(crate) fn get(id: RuntimeId) -> &'static Shared {
    REGISTRY.find(id).expect("ids are given out with their runtime")
}

#[cfg(all(test, loom))]
mod loom;
