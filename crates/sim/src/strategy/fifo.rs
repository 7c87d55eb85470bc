//! No preemption, first come first served.

use std::collections::BTreeMap;

use super::Strategy;
use crate::TaskId;

/// One run in which a task goes on until it gives up its turn, and the one that has been runnable
/// longest follows. Values are zero.
///
/// The plainest of all schedules, and a fair one: with it a failure is no question of
/// interleaving.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{Fifo, Strategy, TaskId};
///
/// let mut fifo = Fifo::new();
/// assert!(fifo.begin_run());
/// assert_eq!(fifo.choose_task(&[TaskId(0), TaskId(2)], None), TaskId(0));
/// // Task 1 came after task 2, so task 2 is before it.
/// assert_eq!(fifo.choose_task(&[TaskId(1), TaskId(2)], None), TaskId(2));
/// assert!(!fifo.begin_run());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    queue: Queue,
    begun: bool,
}

impl Fifo {
    /// The plain run.
    #[must_use]
    pub const fn new() -> Self {
        Fifo { queue: Queue::new(), begun: false }
    }
}

impl Strategy for Fifo {
    fn begin_run(&mut self) -> bool {
        !std::mem::replace(&mut self.begun, true)
    }

    fn choose_task(&mut self, runnable: &[TaskId], current: Option<TaskId>) -> TaskId {
        self.queue.next(runnable, current)
    }

    fn choose_value(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no value below 0");
        0
    }
}

/// The order of [`Fifo`], which also finishes the runs that other strategies have no opinion on.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    /// Since which turn a task has been runnable without being chosen.
    since: BTreeMap<TaskId, u64>,
    turn: u64,
}

impl Queue {
    pub(super) const fn new() -> Self {
        Queue { since: BTreeMap::new(), turn: 0 }
    }

    pub(super) fn next(&mut self, runnable: &[TaskId], current: Option<TaskId>) -> TaskId {
        self.turn += 1;
        self.since.retain(|task, _| runnable.binary_search(task).is_ok());
        for &task in runnable {
            self.since.entry(task).or_insert(self.turn);
        }
        let next = current.unwrap_or_else(|| self.oldest());
        // Whoever was chosen and gives up its turn starts to wait anew, behind the others.
        self.since.remove(&next);
        next
    }

    fn oldest(&self) -> TaskId {
        let oldest = self.since.iter().min_by_key(|&(_, since)| since);
        *oldest.expect("at least one task is runnable").0
    }
}
