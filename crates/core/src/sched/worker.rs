//! A worker: takes tasks, runs them, steals, sleeps.

pub(crate) mod bound;
mod search;
mod share;
mod take;

use std::cell::{Cell, RefCell};
use std::ptr::{self, null};

use coact_sync::shim::atomic::Ordering;
use parking::Parker;

use super::local::TaskQueue;
use super::runtime_shared::RuntimeShared;
use super::search_patience::SearchPatience;
use super::share_policy::SharingPolicy;
use crate::current::{AnyWorker, AsWorker};
use crate::path_coverage::FastPath;
use crate::runtime_ids::{Birthplace, RuntimeId};
use crate::sched::worker_shared::WorkerShared;
use crate::task::{RunContext, TaskPtr, run_task};

/// One in this many tasks is the oldest there is, so every queued task is eventually reached,
/// whatever the tasks in front of it spawn.
const OLDEST_EVERY: u32 = 16;
/// The average and minimum number of tasks with a used-up share that a worker puts behind the
/// others before it asks for one: moving a task costs some cache misses.
const ASK_EVERY: u32 = 4;
/// A cown is overloaded if this many of its turns wait, or this many behaviours.
const OVERLOAD_TURNS: u32 = 4;
const OVERLOAD: u32 = 500;
/// The worker counts the waiting behaviours after one turn in this many, on average.
const LOOK_EVERY: u32 = 8;

/// The most behaviours in a row that a hosted worker runs on one cown: in between it reads the
/// clock.
const HOSTED_THROUGHPUT: u32 = 16;

pub(crate) struct Worker {
    pub(super) shared: &'static RuntimeShared,
    me: &'static WorkerShared,
    pub(super) index: usize,
    id: RuntimeId,
    /// The initial state word of the cowns that its tasks create.
    birthplace: Birthplace,
    pub(super) parker: Parker,
    /// Whether an executor lends its threads.
    hosted: bool,
    /// Whether a hosted worker has shared tasks and not announced them yet.
    has_unannounced: Cell<bool>,
    throughput: u32,
    /// Whether behaviours that send to an overloaded cown give way.
    throttles: bool,
    /// How many behaviours must wait for a cown to make it overloaded.
    overload: u32,
    /// How many behaviours may follow each other in the running chain: the throughput, or 0 once
    /// the chain must give way. An earlier chain may have left a 0.
    bound: Cell<u32>,
    /// The tick in which it last had to, and the queue that it had sent to: null if there were
    /// several. Only compared.
    gave_way: Cell<(u32, *const ())>,
    context: &'static RunContext,
    /// The number of tasks to take or put aside before the worker shares some, or considers it.
    until_share: Cell<i32>,
    /// The number of looks for a task before the oldest has its turn.
    until_oldest: Cell<u32>,
    /// Whether the last such turn went to jobs that only this worker may do.
    has_done_jobs: Cell<bool>,
    /// The job that it has just taken, until the task for it runs.
    job: Cell<Option<Box<dyn FnOnce() + Send>>>,
    /// The number of such turns, modulo 2^32.
    turns: Cell<u32>,
    /// How many behaviours have followed others of their cown: together with the ticks, how many it
    /// has run.
    followers: Cell<u32>,
    /// Whether the worker has found tasks in its own inbox since it last shared.
    taken_back: Cell<bool>,
    sharing: RefCell<SharingPolicy>,
    /// The origin of the times in there.
    /// The number of tasks with a used-up share after which the worker asks another one for a task.
    until_ask: Cell<u32>,
    random: Cell<u32>,
    /// Whether a task in the inbox may be the one asked for.
    expecting: Cell<bool>,
    /// The others' tick counts when this worker last looked for stuck ones.
    seen: RefCell<Vec<u64>>,
    /// The same at a time at least a watch interval ago, and that time.
    seen_long_ago: RefCell<(Vec<u64>, u64)>,
    stolen: RefCell<Vec<TaskPtr>>,
    /// How long it looks for tasks before it sleeps, beyond the usual looks.
    patience: SearchPatience,
}

impl Worker {
    pub(crate) fn new(shared: &'static RuntimeShared, index: usize, parker: Parker) -> Self {
        let throughput = match shared.hosted() {
            None => shared.config.throughput,
            Some(_) => shared.config.throughput.min(HOSTED_THROUGHPUT),
        };
        Self {
            shared,
            me: &shared.workers[index],
            index,
            id: shared.id,
            birthplace: Birthplace::new(shared.id, shared.is_pumped()),
            parker,
            hosted: shared.hosted().is_some(),
            has_unannounced: Cell::new(false),
            throughput,
            throttles: shared.config.throttle_senders,
            overload: throughput.saturating_mul(OVERLOAD_TURNS).min(OVERLOAD),
            bound: Cell::new(throughput),
            gave_way: Cell::new((0, null())),
            context: shared.run_context(),
            until_share: Cell::new(0),
            until_oldest: Cell::new(OLDEST_EVERY),
            has_done_jobs: Cell::new(false),
            job: Cell::new(None),
            turns: Cell::new(0),
            followers: Cell::new(0),
            taken_back: Cell::new(false),
            sharing: RefCell::default(),
            until_ask: Cell::new(ASK_EVERY),
            random: Cell::new(0x9E37_79B9 ^ index as u32),
            expecting: Cell::new(false),
            seen: RefCell::new(vec![0; shared.workers.len()]),
            seen_long_ago: RefCell::new((vec![0; shared.workers.len()], shared.clock.now())),
            stolen: RefCell::new(Vec::new()),
            patience: SearchPatience::default(),
        }
    }

    #[inline]
    pub(crate) fn id(&self) -> RuntimeId {
        self.id
    }

    #[inline]
    pub(crate) fn birthplace(&self) -> Birthplace {
        self.birthplace
    }

    /// Queues a task that this thread has made ready. It runs next; the task that was to run next
    /// moves to where other workers look for work.
    #[inline]
    pub(crate) fn push(&self, task: TaskPtr) {
        // SAFETY: this is the worker's own queue, on its thread; see `own`.
        if let Err(task) = unsafe { self.me.local.try_put_next(task) } {
            self.push_before(task);
        }
    }

    /// The same if another task was to run next.
    #[inline(never)]
    fn push_before(&self, task: TaskPtr) {
        // SAFETY: this is the worker's own queue, on its thread; see `own`.
        if let Err(task) = unsafe { self.me.local.try_put_before(task) } {
            return self.push_slowly(task);
        }
        FastPath::PutAside.take();
        self.share_some();
    }

    /// The same if a thief is in the way, or there is no room.
    #[cold]
    #[inline(never)]
    fn push_slowly(&self, task: TaskPtr) {
        self.with_queue(|tasks| {
            let before = tasks.next.replace(task);
            tasks.fresh.extend(before);
        });
        self.share_some();
    }

    /// Returns how tasks must run, which may change while one runs, at a shutdown's deadline.
    #[inline]
    pub(crate) fn run_context(&self) -> &'static RunContext {
        self.context
    }

    /// Returns how many behaviours may follow each other before others have their turn.
    pub(crate) fn throughput(&self) -> u32 {
        self.throughput
    }

    /// Returns how many tasks the worker has taken from its queues, modulo 2^32.
    pub(crate) fn ticks(&self) -> u32 {
        self.me.ticks.load(Ordering::Relaxed) as u32
    }

    /// Queues a task that has had its share behind all others.
    pub(crate) fn push_aged(&self, task: TaskPtr) {
        let waiting = self.with_queue(|tasks| {
            tasks.aged.push_back(task);
            tasks.aged.len()
        });
        self.share_some();
        if self.shared.workers.len() > 1 {
            self.even_out(waiting);
        }
    }

    #[inline]
    pub(super) fn with_queue<R>(&self, work: impl FnOnce(&mut TaskQueue) -> R) -> R {
        // SAFETY: `me` is this worker's queue, the worker stays on its thread (it is not `Sync`),
        // and no `work` in this module re-enters.
        unsafe { self.me.local.with_queue(work) }
    }

    /// Runs tasks until the runtime stops.
    pub(crate) fn run(&self) {
        self.as_current(|| match self.shared.watchdog() {
            None => self.work::<false>(),
            Some(_) => self.work::<true>(),
        });
        self.leave_queue();
    }

    /// Makes this thread the worker while `main` runs.
    pub(super) fn as_current<R>(&self, main: impl FnOnce() -> R) -> R {
        // SAFETY: the worker is borrowed for the whole of this call, and the guard dropped at its
        // end.
        let _as_worker = unsafe { AsWorker::new(self) };
        main()
    }

    /// Ends the worker. Its part of the runtime's data is never freed, but the memory that its
    /// queue has grown to is.
    pub(super) fn leave_queue(&self) {
        let queue = self.with_queue(std::mem::take);
        debug_assert!(queue.is_empty(), "a worker ends with tasks in its queue");
    }

    /// `SLOW_PATH` says whether a watchdog observes what the worker runs. Compiled twice, so that
    /// it costs nothing without one; and a separate function, so that it has registers for what it
    /// needs with each task.
    #[inline(never)]
    fn work<const SLOW_PATH: bool>(&self) {
        // They never change, which the compiler cannot know.
        let (me, context) = (self.me, self.context);
        loop {
            while let Some(task) = self.take_of(me).or_else(|| self.search()) {
                self.run_chain_in::<SLOW_PATH>(task, context);
            }
            // A job may come between the last look and this, and may leave tasks.
            if self.ends_bound() {
                return;
            }
        }
    }

    /// Runs a task, and those that follow it on the same cown, up to the throughput. Returns how
    /// many it has run.
    #[inline(always)]
    pub(super) fn run_chain<const SLOW_PATH: bool>(&self, task: TaskPtr) -> u32 {
        self.run_chain_in::<SLOW_PATH>(task, self.context)
    }

    /// The same, given the worker's context.
    #[inline(always)]
    fn run_chain_in<const SLOW_PATH: bool>(&self, task: TaskPtr, context: &RunContext) -> u32 {
        match self.run_one_in::<SLOW_PATH>(task, context) {
            None => 1,
            Some(successor) => self.run_successors::<SLOW_PATH>(successor),
        }
    }

    /// The same for a task with this successor, after it has run.
    #[inline(never)]
    fn run_successors<const SLOW_PATH: bool>(&self, successor: TaskPtr) -> u32 {
        let (mut next, mut ran) = (successor, 1);
        loop {
            if ran >= self.bound.get() && self.put_back(next, ran) {
                break;
            }
            let successor = self.run_one::<SLOW_PATH>(next);
            ran += 1;
            match successor {
                None => break,
                Some(successor) => next = successor,
            }
        }
        self.followers.set(self.followers.get().wrapping_add(ran - 1));
        ran
    }

    /// Puts aside the successor of this many behaviours if they have had their share, or must give
    /// way. Returns whether it does.
    #[cold]
    #[inline(never)]
    fn put_back(&self, next: TaskPtr, ran: u32) -> bool {
        // SAFETY: the task is ready, so it is live.
        let backlog = unsafe { next.as_ref() }.vtable.backlog;
        // SAFETY: the task is ready, and owned by this worker.
        let queue = backlog.map_or(null(), |backlog| unsafe { (backlog.queue)(next) });
        let (is_to_give_way, had_share) = (self.is_to_give_way(queue), ran >= self.throughput);
        if had_share
            && self.throttles
            && self.random().is_multiple_of(LOOK_EVERY)
            && let Some(backlog) = backlog
        {
            // SAFETY: the task is ready, and owned by this worker.
            unsafe { (backlog.look)(next, self.overload) };
        }
        if is_to_give_way {
            FastPath::GaveWay.take();
            self.with_queue(|tasks| tasks.held.push_back(next));
        } else if had_share {
            self.push_aged(next);
        }
        is_to_give_way || had_share
    }

    /// Ends the running chain with the running behaviour, and makes what follows that give way to
    /// all others, since it has sent to this queue.
    pub(super) fn give_way(&self, to: *const ()) {
        if !self.throttles {
            return;
        }
        self.bound.set(0);
        let (now, (when, other)) = (self.ticks(), self.gave_way.get());
        let is_only_one = when != now || ptr::eq(to, other);
        self.gave_way.set((now, if is_only_one { to } else { null() }));
    }

    /// Returns whether the chain must give way and has not just sent to the queue that it continues
    /// with; called once its bound is reached. A behaviour in several queues (null) does not give
    /// way: it would hold them all up, and the others have sent nothing.
    fn is_to_give_way(&self, queue: *const ()) -> bool {
        self.bound.set(self.throughput);
        let now = self.ticks();
        let (when, to) = self.gave_way.replace((now.wrapping_sub(1), null()));
        when == now && !queue.is_null() && !ptr::eq(to, queue)
    }

    /// Takes the first of the tasks that give way, and makes the others wait for their turn.
    #[cold]
    pub(super) fn take_held(&self) -> Option<TaskPtr> {
        if self.me.local.len() == 0 {
            return None;
        }
        self.with_queue(|tasks| {
            let first = tasks.held.pop_front();
            tasks.aged.append(&mut tasks.held);
            first
        })
    }

    /// Runs a task; returns the one that should best follow it.
    #[inline]
    pub(super) fn run_one<const SLOW_PATH: bool>(&self, task: TaskPtr) -> Option<TaskPtr> {
        self.run_one_in::<SLOW_PATH>(task, self.context)
    }

    /// The same, given the worker's context.
    #[inline]
    fn run_one_in<const SLOW_PATH: bool>(
        &self,
        task: TaskPtr,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: a task from a queue, or a successor, is ready, and owned by this worker.
        unsafe {
            match SLOW_PATH {
                false => run_task(task, context),
                true => self.me.mark.run(task, context),
            }
        }
    }

    /// Counts that a task is looked for. A worker that has done anything does so before it sleeps.
    #[inline]
    pub(super) fn tick(&self) {
        self.me.tick();
    }
}

impl AnyWorker for Worker {
    fn home(&self) -> RuntimeId {
        self.id
    }

    fn ticks(&self) -> u32 {
        self.ticks()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
