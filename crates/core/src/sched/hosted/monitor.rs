//! The monitor: the thread that looks after hosted workers. It runs none of their tasks while the
//! runtime is running, so nothing blocks it.

use std::task::Waker;
use std::time::Duration;

use parking::Parker;

use super::hosted_workers::{HostedWorkers, TurnResult};
use super::worker_slot::TurnEnd;
use crate::sched::phase::RuntimePhase;
use crate::sched::runtime_shared::RuntimeShared;
use crate::sched::trim;
use crate::sched::trim::park_for;

/// How long a due worker waits for the executor before a fallback thread runs it; up to twice that.
const PATIENCE: Duration = Duration::from_millis(1);
/// How many checks in a row find all workers asleep before the monitor sleeps as well.
const QUIET_LOOKS: u32 = 10;

/// What the monitor saw at its last check.
struct LastCheck {
    /// The number of tasks that each worker had taken.
    ticks: Vec<u64>,
    /// Whether there were tasks in inboxes.
    tasks: bool,
}

impl HostedWorkers {
    /// The main loop of the monitor: until the runtime has stopped, and no worker waits for a
    /// thread. Returns the wakers of the futures that are over.
    pub(crate) fn look_after(&self, shared: &'static RuntimeShared, parker: &Parker) -> Vec<Waker> {
        let mut seen = LastCheck { ticks: vec![0; self.slots.len()], tasks: false };
        let mut quiet = 0;
        while shared.phase() != RuntimePhase::Stopped {
            let overdue = self.slots.iter().filter(|slot| slot.is_overdue()).count();
            (0..overdue).for_each(|_| self.call_fallback(shared));
            self.help_stuck(shared, &mut seen);
            quiet = if self.are_asleep() { quiet + 1 } else { 0 };
            if quiet < QUIET_LOOKS {
                park_for(parker, PATIENCE);
            } else {
                self.sleep(shared, parker);
                quiet = 0;
            }
        }
        let wakers = self.end_vacant(shared);
        self.fallbacks.dismiss();
        wakers
    }

    /// Makes a sleeping worker take what another one is not going to share soon, or what has been
    /// in an inbox since the last check: a worker does not announce what it shares before its
    /// behaviour has ended.
    ///
    /// A fallback thread runs that worker: the executor has had its time, and its waker is foreign
    /// code, which could block the monitor.
    fn help_stuck(&self, shared: &'static RuntimeShared, seen: &mut LastCheck) {
        let has_tasks = shared.has_tasks_in_inboxes();
        let tasks_wait = std::mem::replace(&mut seen.tasks, has_tasks) && has_tasks;
        let mut stuck = None;
        for (index, worker) in shared.workers.iter().enumerate() {
            if worker.is_long_in_sharing(&mut seen.ticks[index], &shared.clock)
                && self.slots[index].is_running()
            {
                stuck = Some(index);
            }
        }
        if stuck.is_none() && !tasks_wait {
            return;
        }
        let mut slots = self.slots.iter().enumerate();
        let taken = slots.find_map(|(index, slot)| Some((index, slot.take_asleep()?)));
        if let Some((index, mut parked)) = taken {
            let has_some = parked.worker.fetch(stuck);
            parked.asleep = !has_some;
            let next = if has_some { TurnEnd::Due } else { TurnEnd::Asleep };
            if self.slots[index].put_neglected(parked, next) {
                self.call_fallback(shared);
            }
        }
    }

    fn are_asleep(&self) -> bool {
        self.slots.iter().all(|slot| slot.is_asleep())
    }

    /// Sleeps until a worker is called.
    fn sleep(&self, shared: &RuntimeShared, parker: &Parker) {
        if self.sleep.begin(|| self.are_asleep()) {
            trim::park(parker, None, || shared.idle.sleeping() == shared.workers.len());
        }
        self.sleep.end();
    }

    /// Ends the workers that no thread is running, once the runtime has stopped: the others end
    /// where they run.
    fn end_vacant(&self, shared: &RuntimeShared) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for (index, slot) in self.slots.iter().enumerate() {
            let Some(mut parked) = slot.take_vacant() else { continue };
            // It keeps its waker: a worker that is not put back in between is woken once, at its
            // end.
            loop {
                match parked.worker.take_turn(parked.asleep) {
                    TurnResult::Ended => break,
                    turn => parked.asleep = turn == TurnResult::Asleep,
                }
            }
            wakers.extend(self.end(shared, index, &parked));
        }
        wakers
    }
}
