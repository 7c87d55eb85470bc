//! The watchdog: reports behaviours that occupy their worker for long, and lends the runtime a
//! spare thread for each while it lasts.
//!
//! Behaviours are not preempted, so one that computes or blocks for a second occupies its worker
//! for a second. With a [limit](crate::runtime::Builder::watchdog), each worker
//! [marks](current_task) what it runs, and a thread checks the marks about four times per limit. A
//! mark that stays is a *stall*. It is reported once, what waits in the queue of the stalled worker
//! is moved to where others find it, and if no sleeping worker could run it, a
//! [spare](spare_thread) starts. Spares are marked and watched like workers. There is at most one
//! per stalled thread, and when there are more, the last to notice leaves.
//!
//! Without a limit none of this exists: workers run a loop that does not mark (`Worker::run`).

pub(crate) mod current_task;
mod spare_state;
mod spare_thread;
mod stall;
pub(crate) mod state;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use super::local::LocalQueue;
use super::phase::RuntimePhase;
use super::runtime_shared::RuntimeShared;
use crate::fault::Fault;
use crate::panic;
use crate::sched::tracked_thread::TrackedThread;
use spare_state::SpareState;
use stall::{StalledTask, ThreadSightings};
use state::Watchdog;

impl Watchdog {
    /// Looks after the workers until the runtime stops.
    pub(crate) fn run(&self, shared: &'static RuntimeShared) {
        let mut rounds = WatchdogRounds::new(self, shared);
        while self.rest() {
            rounds.look();
        }
        // ORDERING: Relaxed, as everywhere with this word: it is a count, and guards nothing.
        self.wanted.store(0, Ordering::Relaxed);
    }
}

/// What the watchdog's thread remembers from one check to the next.
struct WatchdogRounds<'a> {
    watchdog: &'a Watchdog,
    shared: &'static RuntimeShared,
    workers: Vec<ThreadSightings>,
    spares: Vec<(Arc<SpareState>, ThreadSightings)>,
    /// The number of spares ever started.
    started: usize,
}

impl<'a> WatchdogRounds<'a> {
    fn new(watchdog: &'a Watchdog, shared: &'static RuntimeShared) -> Self {
        let workers = shared.workers.iter().map(|_| ThreadSightings::default()).collect();
        Self { watchdog, shared, workers, spares: Vec::new(), started: 0 }
    }

    fn look(&mut self) {
        // A spare that has ended has dropped its own reference.
        self.spares.retain(|(spare, _)| Arc::strong_count(spare) > 1);
        let stalled = self.look_at_workers() + self.look_at_spares();
        // ORDERING: Relaxed. A count.
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
        let (shared, spare) = (self.shared, Arc::new(SpareState::new()));
        let mut thread =
            thread::Builder::new().name(format!("{}-spare-{}", shared.config.name, self.started));
        if let Some(bytes) = shared.config.stack_size {
            thread = thread.stack_size(bytes);
        }
        *shared.alive.lock() += 1;
        // ORDERING: Relaxed. A count.
        self.watchdog.spares.fetch_add(1, Ordering::Relaxed);
        let (runs, seen) = (Arc::clone(&spare), Arc::downgrade(&spare));
        let started = TrackedThread::start(thread, move || {
            if let Some(watchdog) = shared.watchdog() {
                runs.run(shared, watchdog);
            }
            shared.count_out();
        });
        match started {
            Ok(handle) => {
                self.started += 1;
                self.spares.push((spare, ThreadSightings::default()));
                let mut handles = self.watchdog.handles.lock();
                handles.retain(|(handle, _)| !handle.has_returned());
                handles.push((handle, seen));
            }
            Err(error) => {
                // ORDERING: Relaxed. A count.
                self.watchdog.spares.fetch_sub(1, Ordering::Relaxed);
                shared.count_out();
                tracing::error!("could not start a spare worker: {error}");
            }
        }
    }
}

fn report(shared: &RuntimeShared, stall: &StalledTask, thread: impl FnOnce() -> String) {
    if stall.is_new && shared.phase() == RuntimePhase::Running {
        let fault = Fault::Stalled {
            behaviour: (stall.name)(),
            thread: thread(),
            running_for: stall.running_for,
        };
        panic::report(&fault, shared.id);
    }
}

/// Moves what waits behind a stalled behaviour to where all other threads find it.
fn give_back(shared: &'static RuntimeShared, queue: &LocalQueue) {
    let mut tasks = Vec::new();
    // Each round takes half of the rest; a thread that leaves its behaviour meanwhile is in the
    // way, and needs no help.
    while queue.has_any() {
        let before = tasks.len();
        queue.steal(true, &mut tasks);
        if tasks.len() == before {
            break;
        }
    }
    shared.submit_all(tasks);
}
