//! The watchdog: reports behaviours that keep their worker for long, and lends the runtime a spare
//! thread for each while it lasts.
//!
//! Behaviours are not preempted, so one that computes or blocks for a second keeps its worker for a
//! second. With a [limit](crate::runtime::Builder::watchdog), each worker [marks](mark) what it runs, and a
//! thread looks at the marks some four times in a limit. A mark that stays is a *stall*. It is
//! reported once, what waits in the queue of the stalled worker is moved to where others find it,
//! and if nobody sleeps who could run it, a [spare](spare) starts. Spares are marked and watched as
//! workers are. There is one for each thread that is stalled at most, and the last to find that
//! there are more than that leaves.
//!
//! Without a limit nothing of this exists: workers run a loop that does not mark
//! (`Worker::run`).

pub(crate) mod current_task;
mod spare_thread;
mod stall;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use coact_sync::shim::sync::{Condvar, Mutex};

use super::local::LocalQueue;
use super::shared::{Phase, Shared};
use crate::config::Config;
use crate::fault::Fault;
use crate::panic;
use crate::sched::ending::Stuck;
use crate::sched::thread::Thread;
use spare_thread::Spare;
use stall::{Sightings, Stall};

/// How often the marks are looked at in the time of the limit.
const LOOKS: u32 = 4;
/// The marks are looked at no more often than that, and no less often than this.
const INTERVALS: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(1);

/// What the watchdog of a runtime shares with its spares.
pub(crate) struct Watchdog {
    limit: Duration,
    max_spares: usize,
    /// How many spares there should be: as many as threads are stalled.
    wanted: AtomicUsize,
    /// How many spares there are.
    spares: AtomicUsize,
    stopped: Mutex<bool>,
    stop: Condvar,
    /// Of the spares that run, and of some that have ended.
    handles: Mutex<Vec<(Thread, Weak<Spare>)>>,
}

impl Watchdog {
    /// The watchdog of a runtime with workers, if it is to have one.
    pub(crate) fn new(config: &Config) -> Option<Self> {
        let limit = config.watchdog.filter(|_| config.has_workers())?;
        Some(Self {
            limit,
            max_spares: config.spare_workers.unwrap_or(config.workers),
            wanted: AtomicUsize::new(0),
            spares: AtomicUsize::new(0),
            stopped: Mutex::new(false),
            stop: Condvar::new(),
            handles: Mutex::new(Vec::new()),
        })
    }

    /// Looks after the workers until the runtime stops.
    pub(crate) fn run(&self, shared: &'static Shared) {
        let mut rounds = Rounds::new(self, shared);
        while self.rest() {
            rounds.look();
        }
        // ORDERING: Relaxed, as everywhere with this word: it is a figure, and guards nothing.
        self.wanted.store(0, Ordering::Relaxed);
    }

    /// Ends [`run`](Self::run).
    pub(crate) fn stop(&self) {
        *self.stopped.lock() = true;
        self.stop.notify_all();
    }

    /// Waits for the ends of spares that have counted themselves out of the runtime.
    pub(crate) fn join_until(&self, until: Instant) {
        for (spare, _) in std::mem::take(&mut *self.handles.lock()) {
            spare.join_until(until);
        }
    }

    /// Waits for no spare any more.
    pub(crate) fn detach(&self) {
        let spares = std::mem::take(&mut *self.handles.lock());
        drop(spares);
    }

    /// The spares that have not ended, and what they are in.
    pub(crate) fn stuck_spares(&self) -> Vec<Stuck> {
        let handles = self.handles.lock();
        let stuck = handles.iter().filter(|(handle, _)| !handle.has_returned());
        stuck
            .map(|(handle, spare)| Stuck {
                thread: handle.name().to_owned(),
                work: spare.upgrade().and_then(|spare| spare.mark.look()).map(|at| (at.name)()),
            })
            .collect()
    }

    /// Sleeps until the next look is due; returns false once the runtime stops.
    fn rest(&self) -> bool {
        let interval = (self.limit / LOOKS).clamp(*INTERVALS.start(), *INTERVALS.end());
        let until = Instant::now() + interval;
        let mut stopped = self.stopped.lock();
        while !*stopped {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            stopped = self.stop.wait_timeout(stopped, left).0;
        }
        false
    }

    /// Whether there are more spares than stalled threads.
    fn has_surplus(&self) -> bool {
        // ORDERING: Relaxed, both. Figures; `dismisses_spare` decides by one read-modify-write.
        self.spares.load(Ordering::Relaxed) > self.wanted.load(Ordering::Relaxed)
    }

    /// Whether the spare that asks is to end, and is counted out if so.
    fn dismisses_spare(&self) -> bool {
        // ORDERING: Relaxed, all. The count guards nothing.
        let wanted = self.wanted.load(Ordering::Relaxed);
        let one_less = |spares: usize| (spares > wanted).then(|| spares - 1);
        self.spares.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }
}

/// What the thread of the watchdog remembers from one look to the next.
struct Rounds<'a> {
    watchdog: &'a Watchdog,
    shared: &'static Shared,
    workers: Vec<Sightings>,
    spares: Vec<(Arc<Spare>, Sightings)>,
    /// How many spares were ever started.
    started: usize,
}

impl<'a> Rounds<'a> {
    fn new(watchdog: &'a Watchdog, shared: &'static Shared) -> Self {
        let workers = shared.workers.iter().map(|_| Sightings::default()).collect();
        Self { watchdog, shared, workers, spares: Vec::new(), started: 0 }
    }

    fn look(&mut self) {
        // A spare that has ended has let its own reference go.
        self.spares.retain(|(spare, _)| Arc::strong_count(spare) > 1);
        let stalled = self.look_at_workers() + self.look_at_spares();
        // ORDERING: Relaxed. A figure.
        self.watchdog.wanted.store(stalled, Ordering::Relaxed);
        let is_short =
            self.watchdog.spares.load(Ordering::Relaxed) < stalled.min(self.watchdog.max_spares);
        if is_short && self.shared.idle.sleeping() == 0 && self.shared.has_tasks() {
            self.start_spare();
        }
    }

    /// Returns how many workers are stalled.
    fn look_at_workers(&mut self) -> usize {
        let (shared, limit, now) = (self.shared, self.watchdog.limit, Instant::now());
        let mut stalled = 0;
        for (index, (sightings, worker)) in self.workers.iter_mut().zip(&shared.workers).enumerate()
        {
            if let Some(stall) = sightings.add(worker.mark.look(), now, limit) {
                stalled += 1;
                report(shared, &stall, || format!("{}-{index}", shared.config.name));
                give_back(shared, &worker.local);
            }
        }
        stalled
    }

    /// Returns how many spares are stalled.
    fn look_at_spares(&mut self) -> usize {
        let (shared, limit, now) = (self.shared, self.watchdog.limit, Instant::now());
        let mut stalled = 0;
        for (spare, sightings) in &mut self.spares {
            if let Some(stall) = sightings.add(spare.mark.look(), now, limit) {
                stalled += 1;
                report(shared, &stall, || format!("{}-spare", shared.config.name));
                give_back(shared, &spare.local);
            }
        }
        stalled
    }

    fn start_spare(&mut self) {
        let (shared, spare) = (self.shared, Arc::new(Spare::new()));
        let mut thread =
            thread::Builder::new().name(format!("{}-spare-{}", shared.config.name, self.started));
        if let Some(bytes) = shared.config.stack_size {
            thread = thread.stack_size(bytes);
        }
        *shared.alive.lock() += 1;
        // ORDERING: Relaxed. A figure.
        self.watchdog.spares.fetch_add(1, Ordering::Relaxed);
        let (runs, seen) = (Arc::clone(&spare), Arc::downgrade(&spare));
        let started = Thread::start(thread, move || {
            if let Some(watchdog) = shared.watchdog() {
                runs.run(shared, watchdog);
            }
            shared.count_out();
        });
        match started {
            Ok(handle) => {
                self.started += 1;
                self.spares.push((spare, Sightings::default()));
                let mut handles = self.watchdog.handles.lock();
                handles.retain(|(handle, _)| !handle.has_returned());
                handles.push((handle, seen));
            }
            Err(error) => {
                // ORDERING: Relaxed. A figure.
                self.watchdog.spares.fetch_sub(1, Ordering::Relaxed);
                shared.count_out();
                tracing::error!("could not start a spare worker: {error}");
            }
        }
    }
}

fn report(shared: &Shared, stall: &Stall, thread: impl FnOnce() -> String) {
    if stall.is_new && shared.phase() == Phase::Running {
        let fault = Fault::Stalled {
            behaviour: (stall.name)(),
            thread: thread(),
            running_for: stall.running_for,
        };
        panic::report(&fault, shared.id);
    }
}

/// Moves what waits behind a stalled behaviour to where all others find it.
fn give_back(shared: &'static Shared, queue: &LocalQueue) {
    let mut tasks = Vec::new();
    // Each round takes half of the rest; a thread that comes out of its behaviour meanwhile is in
    // the way, and needs no help.
    while queue.has_any() {
        let before = tasks.len();
        queue.steal(true, &mut tasks);
        if tasks.len() == before {
            break;
        }
    }
    shared.submit_all(tasks);
}
