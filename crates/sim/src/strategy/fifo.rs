//! First come, first served, without preemption.

use std::collections::BTreeMap;

use super::SchedulingStrategy;
use crate::TaskId;

/// Makes one run in which a task goes on until it yields, followed by the one that has been
/// runnable longest. Values are zero.
///
/// The simplest schedule, and a fair one: a failure under it does not depend on interleaving.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{FifoOrder, SchedulingStrategy, TaskId};
///
/// let mut fifo = FifoOrder::new();
/// assert!(fifo.begin_run());
/// assert_eq!(fifo.choose_task(&[TaskId(0), TaskId(2)], None), TaskId(0));
/// // Task 1 came after task 2, so task 2 goes first.
/// assert_eq!(fifo.choose_task(&[TaskId(1), TaskId(2)], None), TaskId(2));
/// assert!(!fifo.begin_run());
/// ```
#[derive(Clone, Debug, Default)]
pub struct FifoOrder {
    queue: FifoQueue,
    begun: bool,
}

impl FifoOrder {
    /// Creates the strategy.
    pub const fn new() -> Self {
        FifoOrder { queue: FifoQueue::new(), begun: false }
    }
}

impl SchedulingStrategy for FifoOrder {
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

/// The order of [`FifoOrder`], which also completes the runs that other strategies no longer
/// direct.
#[derive(Clone, Debug, Default)]
pub(super) struct FifoQueue {
    /// The turn since which each task has been runnable without being chosen.
    since: BTreeMap<TaskId, u64>,
    turn: u64,
}

impl FifoQueue {
    pub(super) const fn new() -> Self {
        FifoQueue { since: BTreeMap::new(), turn: 0 }
    }

    pub(super) fn next(&mut self, runnable: &[TaskId], current: Option<TaskId>) -> TaskId {
        self.turn += 1;
        self.since.retain(|task, _| runnable.binary_search(task).is_ok());
        for &task in runnable {
            self.since.entry(task).or_insert(self.turn);
        }
        let next = current.unwrap_or_else(|| self.oldest());
        // A chosen task that yields starts waiting anew, behind the others.
        self.since.remove(&next);
        next
    }

    fn oldest(&self) -> TaskId {
        let oldest = self.since.iter().min_by_key(|&(_, since)| since);
        *oldest.expect("at least one task is runnable").0
    }
}
