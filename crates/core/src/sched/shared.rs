//! What the workers of one runtime share.

use std::cell::Cell;
use std::fmt::{self, Display};
use std::ptr::null;
use std::time::{Duration, Instant};

use coact_sync::CachePadded;
use coact_sync::shim::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
use coact_sync::shim::sync::{Condvar, Mutex};
use parking::{Parker, Unparker};

use super::guest;
use super::hosted::Hosted;
use super::idle::Idle;
use super::inbox::Inbox;
use super::local::LocalQueue;
use super::pump::PumpState;
use super::quiet;
use super::services::Services;
use super::sharing::SHARE_EVERY;
use super::thread::Thread;
use super::watchdog::{Watchdog, mark::Mark};
use crate::config::Host;
use crate::config::{self, Config};
use crate::current::{Cancelling, Entered};
use crate::ids::{Registry, RuntimeId};
use crate::simulated;
use crate::task::{Mode, RunContext, TaskPtr, run_task};

/// One worker as the others see it.
pub(crate) struct WorkerShared {
    pub(crate) local: LocalQueue,
    /// On lines of its own: others look into it while the worker is at work on its queue.
    pub(crate) inbox: CachePadded<Inbox>,
    /// Raised with every task that the worker takes: a worker whose figure stands still is in a
    /// long behaviour.
    pub(crate) ticks: AtomicU64,
    /// The worker that asks this one for a task, and 1; 0 if none does.
    pub(super) asker: AtomicUsize,
    /// Whether it keeps its tasks, since sharing has not paid; a hint.
    pub(super) keeps: AtomicBool,
    /// What it runs, if somebody watches.
    pub(super) mark: Mark,
    /// Whether its thread has come to its end.
    pub(super) ended: AtomicBool,
    unparker: Unparker,
}

impl WorkerShared {
    /// Counts that the worker itself looks for a task.
    #[inline]
    pub(super) fn tick(&self) {
        // ORDERING: Relaxed, both. Written by the worker only; a hint for the watcher; who must be exact finds it asleep
        // first.
        let tick = self.ticks.load(Ordering::Relaxed).wrapping_add(1);
        self.ticks.store(tick, Ordering::Relaxed);
    }

    /// How many tasks the worker has taken since somebody last looked, who has `seen` so many.
    pub(super) fn taken_since(&self, seen: &mut u64) -> u64 {
        // ORDERING: Relaxed. A hint: a worker that is taken for stuck by mistake loses some tasks to another one.
        let ticks = self.ticks.load(Ordering::Relaxed);
        ticks.wrapping_sub(std::mem::replace(seen, ticks))
    }

    /// Whether the worker has tasks that it will be long in sharing: since somebody last looked it has taken none, or
    /// fewer than it takes between two shares.
    pub(super) fn is_long_in_sharing(&self, seen: &mut u64) -> bool {
        let taken = self.taken_since(seen);
        // ORDERING: Relaxed. For a choice that may be wrong.
        let is_slow = taken < SHARE_EVERY as u64
            && self.local.len() > 0
            && !self.keeps.load(Ordering::Relaxed);
        is_slow || taken == 0 && self.local.has_any()
    }
}

/// One runtime. It is never freed (the registry hands out `&'static`), but what it owns is, when it
/// is shut down.
pub(crate) struct Shared {
    pub(crate) id: RuntimeId,
    pub(crate) config: Config,
    pub(crate) workers: Box<[CachePadded<WorkerShared>]>,
    pub(crate) idle: CachePadded<Idle>,
    /// When it was made.
    start: Instant,
    pub(super) services: Services,
    /// Its workers, and who looks after them.
    pub(crate) threads: Mutex<Vec<Thread>>,
    /// Where its tasks go, if it has no workers that take them.
    elsewhere: Option<Elsewhere>,
    phase: CachePadded<AtomicU8>,
    /// How tasks are to be run: as the phase says.
    context: CachePadded<RunContext>,
    /// Work that no queue shows: pending timers, blocking jobs, futures. How much there is in the low
    /// half, and in the high half how much has ever begun.
    outstanding: CachePadded<AtomicU64>,
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

/// What a look at a runtime, or at several, has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Activity {
    /// No work is left.
    Idle,
    /// All rest, but guests are at work: they do not tell when they leave.
    Guests,
    /// There is work. Whoever ends the last of it tells.
    Work,
}

impl Activity {
    /// A look at runtimes that are quiet if no work is left but, perhaps, that of guests. A guest may
    /// leave a task, and a worker may take it, meanwhile: so guests are looked for between two looks at
    /// the rest. README.md, "Idleness", has the argument.
    pub(super) fn look(
        are_quiet: impl FnOnce() -> bool,
        have_guests: impl FnOnce() -> bool,
        are_quiet_still: impl FnOnce() -> bool,
    ) -> Self {
        if !are_quiet() {
            Self::Work
        } else if have_guests() {
            Self::Guests
        } else if are_quiet_still() {
            Self::Idle
        } else {
            // Who has done something meanwhile has told since, or is yet to.
            Self::Work
        }
    }

    /// How long a waiter for idleness sleeps before it looks again, if it must do so untold. The
    /// visits of guests are a few instructions, or one body.
    pub(super) fn patience(self) -> Option<Duration> {
        (self == Self::Guests).then_some(Duration::from_millis(1))
    }
}

/// More than anybody waits.
const FOREVER: Duration = Duration::from_secs(1 << 31);

/// What one more piece of outstanding work adds.
const ONE_BEGUN: u64 = (1 << 32) + 1;

/// The phases of a runtime's life, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Phase {
    Running,
    /// The deadline of a shutdown has passed: bodies are dropped.
    Cancelling,
    /// No worker is left.
    Stopped,
}

impl Shared {
    /// A runtime's shared part, and the parkers for its workers, and after these that of the lookout if it has one.
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
            // The lookout counts as well.
            Host::Executor => config.workers + 1,
            // The pump, the pool: as long as they serve.
            Host::Pump | Host::Blocking => 1,
        };
        let pump = (config.host == Host::Pump).then(PumpState::new);
        let (hosted, lookout) = (config.host == Host::Executor && !config.simulated)
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
                    mark: Mark::new(),
                    ended: AtomicBool::new(false),
                    unparker,
                };
                (parker, CachePadded::new(worker))
            })
            .unzip::<_, _, Vec<_>, Vec<_>>();
        parkers.extend(lookout);
        let shared = Self {
            id,
            workers: workers.into(),
            idle: CachePadded::new(Idle::new(count)),
            start: Instant::now(),
            services: Services::default(),
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

    /// Runs what is left in the inboxes of a stopped runtime, without the bodies. What that leads to, a
    /// promise's next behaviour for instance, is left to the outermost such call of this stack.
    pub(crate) fn cancel_inboxes(&self) {
        Emptying::once(self.id, || {
            while self.has_tasks_in_inboxes() {
                for worker in &self.workers {
                    for task in worker.inbox.take_all() {
                        // SAFETY: ready, and taken by us alone.
                        unsafe { self.cancel(task) };
                    }
                }
            }
        });
    }

    /// Runs a task, and those that follow it, without their bodies.
    ///
    /// # Safety
    /// The task is ready, and the caller's.
    pub(crate) unsafe fn cancel(&self, task: TaskPtr) {
        let context = RunContext::new(self.id, Mode::Cancel);
        let _cancelling = Cancelling::enter();
        // Destructors, and whoever is told, belong to this runtime.
        let _entered = Entered::new(self.id);
        let mut task = Some(task);
        while let Some(ready) = task {
            // SAFETY: by the caller's word, and that of the task for its successor.
            task = unsafe { run_task(ready, &context) };
        }
    }

    /// Counts work that no queue shows.
    pub(crate) fn begin_outstanding(&self) {
        // ORDERING: Relaxed. Whoever begins it is itself work that is seen.
        self.outstanding.fetch_add(ONE_BEGUN, Ordering::Relaxed);
    }

    /// Ends it, after whatever it leads to was submitted.
    pub(crate) fn end_outstanding(&self) {
        // ORDERING: Release pairs with the acquire in `has_nothing_outstanding`: what was submitted
        // before is seen.
        if self.outstanding.fetch_sub(1, Ordering::Release) as u32 == 1 {
            // ORDERING: SeqCst pairs with the fence in `Idle::fall_asleep`: we see the last worker asleep, or it sees
            // that nothing is outstanding, and one of us tells.
            fence(Ordering::SeqCst);
            self.tell_if_idle();
        }
    }

    /// Whether no work is left: exact if nobody outside brings new work.
    pub(crate) fn is_idle(&self) -> bool {
        self.activity() == Activity::Idle
    }

    /// What is going on; `Idle` is exact if nobody outside brings new work.
    pub(crate) fn activity(&self) -> Activity {
        if self.config.simulated {
            return if self.is_quiet_in_simulation() { Activity::Idle } else { Activity::Work };
        }
        let is_quiet = || self.is_quiet();
        Activity::look(is_quiet, || guest::are_there_any(self.id), is_quiet)
    }

    fn is_quiet_in_simulation(&self) -> bool {
        // What a run has left behind does nothing any more.
        !simulated::is_active() || !simulated::has_tasks(self.id) && self.has_nothing_outstanding()
    }

    /// Whether no work is left that no queue shows.
    pub(crate) fn has_nothing_outstanding(&self) -> bool {
        self.outstanding() == 0
    }

    /// How much work is left that no queue shows.
    pub(crate) fn outstanding(&self) -> u32 {
        // ORDERING: Acquire, see `end_outstanding`.
        self.outstanding.load(Ordering::Acquire) as u32
    }

    /// Whether no work is left but, perhaps, that of guests.
    fn is_quiet(&self) -> bool {
        self.has_nothing_outstanding()
            && self.idle.sleeping() == self.workers.len()
            && !self.has_tasks()
    }

    /// Tells those who wait for idleness to look for themselves.
    pub(crate) fn tell_if_idle(&self) {
        if self.is_quiet() {
            self.tell();
        }
    }

    /// Has those who wait for idleness, or for the end, look for themselves.
    pub(crate) fn tell(&self) {
        let alive = self.alive.lock();
        self.changed.notify_all();
        drop(alive);
        quiet::tell();
    }

    /// Whether no work is left but, perhaps, that of guests; for a look that must be exact.
    pub(super) fn is_quiet_exactly(&self) -> bool {
        self.has_nothing_outstanding()
            && self.idle.are_asleep(self.workers.len())
            && !self.has_tasks()
    }

    /// How much work has been taken and begun: the same at two times between which the runtime has
    /// not done anything. README.md, "Several runtimes".
    pub(super) fn stamp(&self) -> (u64, u64) {
        // ORDERING: Relaxed, both. `are_asleep` and `has_nothing_outstanding` order them.
        let ticks = self.workers.iter().map(|worker| worker.ticks.load(Ordering::Relaxed));
        (ticks.sum(), self.outstanding.load(Ordering::Relaxed) >> 32)
    }

    /// What a simulated thread waits for here.
    fn idleness(&self) -> impl Display {
        // ORDERING: Relaxed. For people.
        let outstanding = || self.outstanding.load(Ordering::Relaxed) as u32;
        fmt::from_fn(move |f| {
            let name = &self.config.name;
            match outstanding() {
                0 => write!(f, "runtime `{name}` to have no work left"),
                some => {
                    write!(f, "runtime `{name}` to have no work left")?;
                    write!(f, " (jobs, futures and holds: {some})")
                }
            }
        })
    }

    /// Blocks until no work is left.
    #[track_caller]
    pub(crate) fn wait_idle(&self) {
        if simulated::block_until(&self.idleness(), &|| self.is_idle()) {
            return;
        }
        while !self.wait_idle_for(Duration::from_secs(3600)) {}
    }

    /// Blocks until no work is left, for so long at the most; returns whether none is left.
    #[track_caller]
    pub(crate) fn wait_idle_for(&self, time: Duration) -> bool {
        if self.config.simulated && simulated::is_active() {
            return simulated::block_for(&self.idleness(), Some(time), &|| self.is_idle());
        }
        let start = Instant::now();
        let until = start.checked_add(time).unwrap_or(start + FOREVER);
        let mut alive = self.alive.lock();
        loop {
            let activity = if *alive == 0 { Activity::Idle } else { self.activity() };
            if activity == Activity::Idle {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let patience = activity.patience().unwrap_or(left);
            alive = self.changed.wait_timeout(alive, patience.min(left)).0;
        }
    }
}

#[cfg(not(all(test, loom)))]
thread_local! {
    /// The innermost. Without a destructor, for those of other thread-locals.
    static EMPTYING: Cell<*const Emptying> = const { Cell::new(null()) };
}

#[cfg(all(test, loom))]
::loom::thread_local! {
    static EMPTYING: Cell<*const Emptying> = Cell::new(null());
}

/// A runtime whose inboxes this thread empties, somewhere on its stack. There is one for each runtime at the
/// most, so the stack is bounded.
struct Emptying {
    runtime: RuntimeId,
    outer: *const Emptying,
}

impl Emptying {
    /// Calls `empty`, unless a call for the same runtime is on this stack.
    fn once(runtime: RuntimeId, empty: impl FnOnce()) {
        let this = Self { runtime, outer: EMPTYING.with(Cell::get) };
        if this.is_nested() {
            return;
        }
        // It is not moved before it is dropped, which takes it off the list.
        EMPTYING.with(|innermost| innermost.set(&raw const this));
        empty();
    }

    fn is_nested(&self) -> bool {
        // SAFETY: whoever is in the list lies farther out on this stack, and takes itself off before it goes.
        let mut outer = unsafe { self.outer.as_ref() };
        while let Some(one) = outer {
            if one.runtime == self.runtime {
                return true;
            }
            // SAFETY: as above.
            outer = unsafe { one.outer.as_ref() };
        }
        false
    }
}

impl Drop for Emptying {
    fn drop(&mut self) {
        EMPTYING.with(|innermost| innermost.set(self.outer));
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
