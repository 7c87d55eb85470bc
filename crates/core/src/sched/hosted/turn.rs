//! One turn of a hosted worker on any thread.

use crate::current;
use std::time::{Duration, Instant};

use super::hosted_workers::{HostedWorker, TurnResult};
use crate::sched::phase::RuntimePhase;
use crate::sched::worker::Worker;
use crate::task::TaskPtr;

/// The number of behaviours after which the thread is returned: other tasks of the executor have
/// their turn.
const TURN: u32 = 128;
/// The time after which it is, if they are long ones.
const TIME: Duration = Duration::from_micros(100);
/// The number of behaviours from which the turn is timed: most are over by then, and reading the
/// clock takes as long as a short behaviour.
const TIMED_FROM: u32 = 4;

/// A worker that an executor hosts.
pub(super) struct ExecutorWorker(pub(super) Worker);

// SAFETY: everything in a worker may move between threads except the tasks in its `stolen`, which
// are raw pointers. That is empty while no method of the worker runs; and any thread may run tasks.
unsafe impl Send for ExecutorWorker {}

impl HostedWorker for ExecutorWorker {
    fn take_turn(&self, asleep: bool) -> TurnResult {
        self.0.take_turn(asleep)
    }

    fn fetch(&self, stuck: Option<usize>) -> bool {
        self.0.fetch(stuck)
    }

    fn leave_queue(&self) {
        self.0.leave_queue();
    }
}

impl Worker {
    /// Runs tasks as this worker on the current thread, until it has had its share or there are
    /// none. It comes from the list of sleepers if it was `asleep`.
    pub(super) fn take_turn(&self, asleep: bool) -> TurnResult {
        let turn = || match self.shared.watchdog() {
            None => self.turn::<false>(asleep),
            Some(_) => self.turn::<true>(asleep),
        };
        current::alone(|| self.as_current(turn))
    }

    fn turn<const SLOW_PATH: bool>(&self, asleep: bool) -> TurnResult {
        let mut next = if asleep { self.get_up_for(None) } else { self.next() };
        let (mut ran, mut began) = (0, None);
        loop {
            let task = match next {
                Ok(task) => task,
                Err(end) => return end,
            };
            self.announce_shared();
            ran += self.run_chain::<SLOW_PATH>(task);
            self.announce_shared();
            let is_over =
                ran >= TIMED_FROM && began.get_or_insert_with(Instant::now).elapsed() >= TIME;
            if ran >= TURN || is_over {
                return TurnResult::Over;
            }
            next = self.next();
        }
    }

    /// Gets up and takes what waits behind the `stuck` worker, if there is one, or is in an inbox.
    /// Returns whether there was anything: otherwise it sleeps again.
    pub(super) fn fetch(&self, stuck: Option<usize>) -> bool {
        let fetched = self.get_up_for(stuck);
        if let Ok(task) = fetched {
            self.with_queue(|tasks| tasks.aged.push_front(task));
        }
        self.announce_shared();
        fetched.is_ok()
    }

    fn next(&self) -> Result<TaskPtr, TurnResult> {
        if let Some(task) = self.take() {
            return Ok(task);
        }
        self.shared.idle.start_searching();
        self.search_once()
    }

    fn get_up_for(&self, stuck: Option<usize>) -> Result<TaskPtr, TurnResult> {
        // A check for idleness that sees the worker asleep twice sees that it was awake in between
        // (`RuntimeShared::stamp`).
        self.tick();
        // Called or not, from here on it is not a sleeper, and counts as searching.
        self.shared.idle.wake_up(self.index);
        if let Some(task) = stuck.and_then(|worker| self.steal_from(worker, true)) {
            self.with_queue(|tasks| tasks.aged.push_back(task));
        }
        self.search_once()
    }

    /// Like `Worker::search`, but does not spin: the executor may have something to do. Tasks in
    /// the queues of other workers are shared by these, or found by the fallback thread.
    fn search_once(&self) -> Result<TaskPtr, TurnResult> {
        let (shared, idle) = (self.shared, &self.shared.idle);
        loop {
            if let Some(task) = self.look_once_for_any() {
                if idle.found_work() {
                    shared.notify_of_rest();
                }
                return Ok(task);
            }
            if shared.phase() == RuntimePhase::Stopped {
                return Err(TurnResult::Ended);
            }
            idle.fall_asleep(self.index);
            if !shared.has_tasks_in_inboxes() && shared.phase() != RuntimePhase::Stopped {
                shared.tell_if_idle();
                return Err(TurnResult::Asleep);
            }
            idle.wake_up(self.index);
        }
    }
}
