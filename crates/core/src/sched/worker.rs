//! A worker: takes tasks, runs them, steals, sleeps.

use std::cell::{Cell, RefCell};
use std::ptr::{self, null};
use std::time::{Duration, Instant};

use coact_sync::shim::atomic::Ordering;
use parking::Parker;

use super::local::Tasks;
use super::phase::Phase;
use super::shared::Shared;
use super::sharing::{Decision, SHARE_EVERY, Sharing};
use super::trim::{self, park_for};
use crate::current::{AnyWorker, AsWorker};
use crate::ids::{Birthplace, RuntimeId};
use crate::paths::Path;
use crate::sched::worker_shared::WorkerShared;
use crate::task::{RunContext, TaskPtr, run_task};

/// One in this many tasks is the oldest there is, so every queued task is eventually reached,
/// whatever the tasks in front of it spawn.
const OLDEST_EVERY: u32 = 16;
/// Within this many tasks, each place where tasks wait has had its turn.
const ROUND: u32 = 64;
/// The worker checks whether another one is stuck once per this many rounds.
const STUCK_EVERY: u32 = 16;
/// The worker checks again after this many more tasks if it was too soon to tell whether sharing
/// pays.
const SOON: i32 = 8;
/// The average and minimum number of tasks with a used-up share that a worker puts behind the
/// others before it asks for one: moving a task costs some cache misses.
const ASK_EVERY: u32 = 4;
/// How often a worker looks at all queues before it goes to sleep.
const SEARCH_ROUNDS: u32 = 40;
/// How often it does so before it runs what gives way: some 1 to 2 µs, in which a cown runs 20
/// short behaviours.
const HELD_ROUNDS: u32 = 8;
/// A cown is overloaded if this many of its turns wait, or this many behaviours.
const OVERLOAD_TURNS: u32 = 4;
const OVERLOAD: u32 = 500;
/// The worker counts the waiting behaviours after one turn in this many, on average.
const LOOK_EVERY: u32 = 8;
/// How long a task may wait behind a long behaviour while a worker sleeps.
const WATCH_INTERVAL: Duration = Duration::from_millis(1);
/// How many looks the watcher makes after all other workers have gone to sleep.
const WATCH_LAST: u32 = 10;

/// The most behaviours in a row that a hosted worker runs on one cown: in between it reads the
/// clock.
const HOSTED_THROUGHPUT: u32 = 16;

pub(crate) struct Worker {
    pub(super) shared: &'static Shared,
    me: &'static WorkerShared,
    pub(super) index: usize,
    id: RuntimeId,
    /// The initial state word of the cowns that its tasks create.
    birthplace: Birthplace,
    pub(super) parker: Parker,
    /// Whether an executor lends its threads.
    hosted: bool,
    /// Whether a hosted worker has shared tasks and not announced them yet.
    untold: Cell<bool>,
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
    /// The number of such turns, modulo 2^32.
    turns: Cell<u32>,
    /// How many behaviours have followed others of their cown: together with the ticks, how many it
    /// has run.
    followers: Cell<u32>,
    /// Whether the worker has found tasks in its own inbox since it last shared.
    taken_back: Cell<bool>,
    sharing: RefCell<Sharing>,
    /// The origin of the times in there.
    epoch: Instant,
    /// The number of tasks with a used-up share after which the worker asks another one for a task.
    until_ask: Cell<u32>,
    random: Cell<u32>,
    /// Whether a task in the inbox may be the one asked for.
    expecting: Cell<bool>,
    /// The others' tick counts when this worker last looked for stuck ones.
    seen: RefCell<Vec<u64>>,
    stolen: RefCell<Vec<TaskPtr>>,
}

impl Worker {
    pub(crate) fn new(shared: &'static Shared, index: usize, parker: Parker) -> Self {
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
            untold: Cell::new(false),
            throughput,
            throttles: shared.config.throttle_senders,
            overload: throughput.saturating_mul(OVERLOAD_TURNS).min(OVERLOAD),
            bound: Cell::new(throughput),
            gave_way: Cell::new((0, null())),
            context: shared.run_context(),
            until_share: Cell::new(0),
            until_oldest: Cell::new(OLDEST_EVERY),
            turns: Cell::new(0),
            followers: Cell::new(0),
            taken_back: Cell::new(false),
            sharing: RefCell::default(),
            epoch: Instant::now(),
            until_ask: Cell::new(ASK_EVERY),
            random: Cell::new(0x9E37_79B9 ^ index as u32),
            expecting: Cell::new(false),
            seen: RefCell::new(vec![0; shared.workers.len()]),
            stolen: RefCell::new(Vec::new()),
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
        Path::PutAside.take();
        self.share_some();
    }

    /// The same if a thief is in the way, or there is no room.
    #[cold]
    #[inline(never)]
    fn push_slowly(&self, task: TaskPtr) {
        self.own(|tasks| {
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
        let waiting = self.own(|tasks| {
            tasks.aged.push_back(task);
            tasks.aged.len()
        });
        self.share_some();
        if self.shared.workers.len() > 1 {
            self.even_out(waiting);
        }
    }

    /// Serves tasks that always have more to do evenly, whichever worker has them: each worker asks
    /// another one for a task once per round of its own queue. README.md, "Evening out".
    fn even_out(&self, waiting: usize) {
        // ORDERING: Relaxed, here and in `ask`. The word holds a request, and guards nothing.
        let asker = self.me.asker.load(Ordering::Relaxed);
        if asker != 0 {
            self.me.asker.store(0, Ordering::Relaxed);
            self.give_to(asker - 1);
        }
        if self.expecting.get()
            && let Some(task) = self.take_from_inbox(self.index)
        {
            self.expecting.set(false);
            self.own(|tasks| tasks.aged.push_back(task));
        }
        let left = self.until_ask.get().saturating_sub(1);
        self.until_ask.set(left);
        // The rest of the inbox is shared with idle workers.
        if left == 0 && self.me.inbox.is_empty() {
            self.ask(waiting);
        }
    }

    /// Asks a worker for one of its waiting tasks. Which one, and the time of the next request, are
    /// random within bounds: in step with each other, two workers would pass the same tasks to and
    /// fro.
    fn ask(&self, waiting: usize) {
        let round = u32::try_from(waiting).unwrap_or(u32::MAX / 4).max(ASK_EVERY);
        self.until_ask.set(round / 2 + self.random() % (round + 1));
        let workers = &self.shared.workers;
        let first = self.random() as usize;
        let others = (0..workers.len()).map(|turn| (first + turn) % workers.len());
        let mut rich =
            others.filter(|other| *other != self.index && workers[*other].local.len() > 0);
        if let Some(other) = rich.next() {
            // ORDERING: Relaxed, both. See `even_out`.
            if workers[other].asker.load(Ordering::Relaxed) == self.index + 1 {
                self.relieve(other);
            }
            workers[other].asker.store(self.index + 1, Ordering::Relaxed);
            self.expecting.set(true);
        }
    }

    /// Takes half of the tasks of a worker that has put none aside since it was asked for one: it
    /// has no processor, or is in a long behaviour.
    #[cold]
    fn relieve(&self, other: usize) {
        if let Some(task) = self.steal_from(other, false) {
            self.own(|tasks| tasks.aged.push_back(task));
        }
    }

    /// Returns the next number of a xorshift generator.
    fn random(&self) -> u32 {
        let mut number = self.random.get();
        number ^= number << 13;
        number ^= number >> 17;
        number ^= number << 5;
        self.random.set(number);
        number
    }

    /// Gives away the task that has waited longest, unless it is the only one.
    #[cold]
    fn give_to(&self, asker: usize) {
        let oldest = self.own(|tasks| {
            if tasks.aged.len() > 1 { tasks.aged.pop_front() } else { tasks.fresh.pop_front() }
        });
        if let Some(task) = oldest {
            // SAFETY: the task is ready, and was taken from this worker's own queue.
            unsafe { self.shared.workers[asker].inbox.push(task) };
            // The asker may have fallen asleep.
            self.tell_of_inbox();
        }
    }

    /// Called when this worker has tasks besides the next one: now and then, if another worker has
    /// none, it puts half of them where that finds them. So tasks change hands in bulk, and an idle
    /// worker does not disturb a busy one.
    #[inline]
    fn share_some(&self) {
        let left = self.until_share.get() - 1;
        self.until_share.set(left);
        if left <= 0 {
            self.share_now();
        }
    }

    #[inline]
    fn share_if_due(&self) {
        if self.until_share.get() <= 0 {
            self.share_now();
        }
    }

    #[inline(never)]
    fn share_now(&self) {
        self.share_if_hungry(|| self.decide());
    }

    /// Shares tasks that have come in bulk, at once.
    fn share_bulk(&self) {
        self.share_if_hungry(|| Decision::Share(usize::MAX));
    }

    fn share_if_hungry(&self, decide: impl FnOnce() -> Decision) {
        if self.shared.workers.len() == 1 {
            // No other worker is ever hungry, so this need not be asked with each task.
            self.until_share.set(SHARE_EVERY);
        } else if self.shared.idle.is_hungry() {
            match decide() {
                Decision::Share(most) => self.share(most),
                Decision::Wait => self.until_share.set(SOON),
                Decision::Keep => self.until_share.set(SHARE_EVERY),
            }
        } else {
            self.until_share.set(0);
        }
    }

    /// Returns the nanoseconds since the worker was created.
    fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns whether shared behaviours end sooner. README.md, "What sharing costs".
    fn decide(&self) -> Decision {
        // A measurement would include what an executor does between two turns.
        if self.hosted {
            return Decision::Share(usize::MAX);
        }
        // If others have not taken the last shared tasks yet, or tasks have come from outside,
        // there is no need for more.
        let helped = self.me.inbox.is_empty() && !self.taken_back.get();
        let now = self.now();
        let ran = self.ticks().wrapping_add(self.followers.get());
        let mut sharing = self.sharing.borrow_mut();
        let decision = sharing.decide(now, ran, helped);
        // ORDERING: Relaxed. For a decision that may be wrong.
        self.me.keeps.store(sharing.keeps(now), Ordering::Relaxed);
        decision
    }

    #[cold]
    fn share(&self, most: usize) {
        let began = self.now();
        self.until_share.set(SHARE_EVERY);
        self.taken_back.set(false);
        // From here on the inbox contains tasks for others.
        self.expecting.set(false);
        let mut shared = self.stolen.borrow_mut();
        self.own(|tasks| tasks.take_half(most, &mut shared));
        // SAFETY: the tasks are ready, and were taken from this worker's own queue.
        unsafe { self.me.inbox.push_all(shared.drain(..)) };
        self.tell_of_inbox();
        self.sharing.borrow_mut().leave_out(self.now() - began);
    }

    /// Announces tasks in an inbox. Waking a worker that an executor hosts runs foreign code, which
    /// must not run in the middle of what this worker is doing: that waits for the end of the task.
    fn tell_of_inbox(&self) {
        if self.hosted {
            self.untold.set(true);
        } else {
            self.shared.notify_of_inbox();
        }
    }

    /// Announces tasks that were shared meanwhile; for a hosted worker, between two tasks.
    #[inline]
    pub(super) fn tell_of_shared(&self) {
        if self.untold.replace(false) {
            self.shared.notify_of_inbox();
        }
    }

    /// A task waits behind the running behaviour while all other workers sleep: if the behaviour is
    /// a long one, a watcher must notice.
    #[cold]
    fn appoint_watcher(&self) {
        if let Some(worker) = self.shared.idle.choose_sleeper() {
            self.shared.unpark(worker);
        }
    }

    #[inline]
    pub(super) fn own<R>(&self, work: impl FnOnce(&mut Tasks) -> R) -> R {
        // SAFETY: `me` is this worker's queue, the worker stays on its thread (it is not `Sync`),
        // and no `work` in this module re-enters.
        unsafe { self.me.local.own(work) }
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
        let queue = self.own(std::mem::take);
        debug_assert!(queue.is_empty(), "a worker ends with tasks in its queue");
    }

    /// `SLOW_PATH` says whether a watchdog observes what the worker runs. Compiled twice, so that
    /// it costs nothing without one; and a separate function, so that it has registers for what it
    /// needs with each task.
    #[inline(never)]
    fn work<const SLOW_PATH: bool>(&self) {
        // They never change, which the compiler cannot know.
        let (me, context) = (self.me, self.context);
        while let Some(task) = self.take_of(me).or_else(|| self.search()) {
            self.run_chain_in::<SLOW_PATH>(task, context);
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
            Path::GaveWay.take();
            self.own(|tasks| tasks.held.push_back(next));
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
        self.own(|tasks| {
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

    /// Takes the worker's own next task.
    // Called from both loops of `work`, so the compiler would otherwise make it a call: ten
    // instructions per task.
    #[inline(always)]
    pub(super) fn take(&self) -> Option<TaskPtr> {
        self.take_of(self.me)
    }

    /// The same, given the worker's shared part.
    #[inline(always)]
    fn take_of(&self, me: &WorkerShared) -> Option<TaskPtr> {
        me.tick();
        let left = self.until_oldest.get() - 1;
        self.until_oldest.set(left);
        if left == 0
            && let Some(task) = self.take_oldest()
        {
            return Some(task);
        }
        // SAFETY: this is the worker's own queue, on its thread; see `own`.
        match unsafe { me.local.try_take() } {
            None => self.take_any(),
            task => task,
        }
    }

    /// The same if there may be neither a next nor a fresh task, or a thief is in the way.
    #[inline(never)]
    fn take_any(&self) -> Option<TaskPtr> {
        let task = self.own(|tasks| {
            let next = tasks.next.take().or_else(|| tasks.fresh.pop_back());
            next.or_else(|| tasks.aged.pop_front())
        });
        task.or_else(|| self.take_from_inbox(self.index))
    }

    /// Takes the task that has waited longest, from the places where tasks wait, in turn.
    #[cold]
    fn take_oldest(&self) -> Option<TaskPtr> {
        self.until_oldest.set(OLDEST_EVERY);
        self.until_share.set((self.until_share.get() - OLDEST_EVERY as i32).max(0));
        let turns = self.turns.get().wrapping_add(1);
        self.turns.set(turns);
        let (round, turn) = (turns / (ROUND / OLDEST_EVERY), turns % (ROUND / OLDEST_EVERY));
        let elsewhere = match turn {
            0 => self.take_from_inbox(round as usize % self.shared.workers.len()),
            1 if round.is_multiple_of(STUCK_EVERY) => self.help_stuck(true),
            _ => None,
        };
        // Only this thread adds to the queue, so a length of 0 is exact.
        if elsewhere.is_some() || self.me.local.len() == 0 {
            return elsewhere;
        }
        let (task, more) = self.own(|tasks| {
            let Tasks { fresh, aged, held, .. } = tasks;
            let [first, second] = match turn {
                0 | 2 => [aged, fresh],
                3 if !held.is_empty() => [held, fresh],
                _ => [fresh, aged],
            };
            let task = first.pop_front().or_else(|| second.pop_front());
            (task, !tasks.fresh.is_empty() || !tasks.aged.is_empty())
        });
        if more {
            self.share_if_due();
        }
        task
    }

    /// Moves an inbox's tasks to the end of the worker's own queue, and takes the first.
    pub(super) fn take_from_inbox(&self, index: usize) -> Option<TaskPtr> {
        let inbox = &self.shared.workers[index].inbox;
        if inbox.is_empty() {
            return None;
        }
        if index == self.index {
            self.taken_back.set(true);
        }
        let mut tasks = inbox.take_all();
        let first = tasks.next();
        let more = self.own(|own| {
            own.aged.extend(tasks);
            !own.aged.is_empty()
        });
        if more {
            self.share_bulk();
        }
        first
    }

    /// Looks for work everywhere, and sleeps until there is some. Returns `None` once the runtime
    /// stops.
    #[cold]
    fn search(&self) -> Option<TaskPtr> {
        self.sharing.borrow_mut().interrupt();
        self.until_share.set(0);
        let mut in_a_crowd = self.shared.idle.start_searching();
        loop {
            let found = if in_a_crowd { self.look_once_for_any() } else { self.look_for_a_while() };
            if let Some(task) = found {
                if self.shared.idle.found_work() {
                    self.shared.notify_of_rest();
                }
                // This worker may have been the watcher; and tasks that it has taken along wait
                // behind the one that it runs now.
                if self.shared.idle.misses_watcher() {
                    self.appoint_watcher();
                }
                return Some(task);
            }
            // Only after that look: a watcher has returned with tasks that no other worker knows
            // of.
            if self.shared.phase() == Phase::Stopped {
                return None;
            }
            self.sleep(in_a_crowd);
            in_a_crowd = false;
        }
    }

    /// Looks for tasks that others share.
    pub(super) fn look_once(&self) -> Option<TaskPtr> {
        // The watcher may have returned with tasks of its own.
        self.own(|tasks| tasks.aged.pop_front()).or_else(|| self.look_into_inboxes())
    }

    /// The same, and for its own tasks that give way.
    pub(super) fn look_once_for_any(&self) -> Option<TaskPtr> {
        self.look_once().or_else(|| self.take_held())
    }

    /// The same repeatedly; finally, takes tasks from stuck workers.
    fn look_for_a_while(&self) -> Option<TaskPtr> {
        // Without other workers, there are no other tasks that those giving way could wait for.
        let is_alone = self.shared.workers.len() == 1;
        let found = if is_alone { self.look_once_for_any() } else { self.look_once() };
        if found.is_some() {
            return found;
        }
        self.note_ticks();
        for round in 0..SEARCH_ROUNDS {
            for _ in 0..=round.min(16) {
                coact_sync::shim::hint::spin_loop();
            }
            if let Some(task) = self.look_into_inboxes() {
                return Some(task);
            }
            if round == HELD_ROUNDS
                && let Some(task) = self.take_held()
            {
                return Some(task);
            }
        }
        self.help_stuck(false)
    }

    fn look_into_inboxes(&self) -> Option<TaskPtr> {
        let count = self.shared.workers.len();
        (1..=count).find_map(|distance| self.take_from_inbox((self.index + distance) % count))
    }

    /// Remembers how many tasks the others have taken, for `help_stuck`.
    fn note_ticks(&self) {
        for (seen, worker) in self.seen.borrow_mut().iter_mut().zip(&self.shared.workers) {
            *seen = worker.ticks.load(Ordering::Relaxed);
        }
    }

    pub(super) fn steal_from(&self, victim: usize, with_next: bool) -> Option<TaskPtr> {
        let local = &self.shared.workers[victim].local;
        if victim == self.index || !(local.len() > 0 || with_next && local.has_any()) {
            return None;
        }
        let (first, more) = {
            let mut stolen = self.stolen.borrow_mut();
            local.steal(with_next, &mut stolen);
            let mut stolen = stolen.drain(..);
            let first = stolen.next();
            let more = stolen.len() > 0;
            if more {
                self.own(|tasks| tasks.aged.extend(stolen));
            }
            (first, more)
        };
        if more {
            self.share_bulk();
        }
        first
    }

    /// Takes tasks, including `next` if wanted, from a worker that has taken none itself since this
    /// worker last looked: it is in a long behaviour.
    fn help_stuck(&self, with_next: bool) -> Option<TaskPtr> {
        let mut seen = self.seen.borrow_mut();
        (0..seen.len()).find_map(|index| {
            let stuck = self.shared.workers[index].taken_since(&mut seen[index]) == 0;
            stuck.then(|| self.steal_from(index, with_next)).flatten()
        })
    }

    /// Returns whether a worker is stuck, as in [`help_stuck`](Self::help_stuck), or is not going
    /// to share soon.
    fn sees_stuck(&self) -> bool {
        let mut seen = self.seen.borrow_mut();
        let mut workers = self.shared.workers.iter().zip(&mut *seen).enumerate();
        workers.any(|(index, (other, seen))| other.is_long_in_sharing(seen) && index != self.index)
    }

    /// Sleeps until woken, by a task or because the runtime stops; counts as searching on return.
    /// In a crowd, it leaves other workers' queues to those that are searching.
    fn sleep(&self, in_a_crowd: bool) {
        coact_sync::pool::flush_thread();
        let (shared, idle) = (self.shared, &self.shared.idle);
        idle.fall_asleep(self.index);
        let is_there_more =
            if in_a_crowd { shared.has_tasks_in_inboxes() } else { shared.has_tasks_to_share() };
        if is_there_more || shared.phase() == Phase::Stopped {
            return self.wake_up();
        }
        self.shared.tell_if_idle();
        if self.shared.workers.len() > 1 && idle.start_watching() {
            self.watch();
        } else {
            self.park();
            // Woken by `unpark_all` (a stop), or by a waker that took this worker off the list.
            idle.wake_up(self.index);
        }
    }

    fn wake_up(&self) {
        if !self.shared.idle.wake_up(self.index) {
            // A waker came first: consume its permit, so that the next sleep does not end at once.
            self.parker.park();
        }
    }

    /// Sleeps as the watcher, which checks now and then whether a worker is stuck in a long
    /// behaviour with tasks waiting behind it.
    fn watch(&self) {
        let idle = &self.shared.idle;
        let mut quiet = 0;
        while quiet < WATCH_LAST || !idle.end_watch(self.shared.workers.len()) {
            if park_for(&self.parker, WATCH_INTERVAL) {
                idle.wake_up(self.index);
                return idle.stop_watching();
            }
            let all_asleep = idle.sleeping() == self.shared.workers.len();
            quiet = if all_asleep { quiet + 1 } else { 0 };
            if self.sees_stuck() {
                // Wake up first: a task in the hands of a worker that counts as asleep is in no
                // queue, and the worker it was taken from may fall asleep. The runtime would look
                // idle.
                self.wake_up();
                if let Some(task) = self.help_stuck(true) {
                    self.own(|tasks| tasks.aged.push_back(task));
                }
                return idle.stop_watching();
            }
        }
        self.park();
        idle.wake_up(self.index);
    }

    /// Parks. The last sleeper also looks after surplus memory.
    fn park(&self) {
        trim::park(&self.parker, None, || self.shared.idle.sleeping() == self.shared.workers.len());
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
