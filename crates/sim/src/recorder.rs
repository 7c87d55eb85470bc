//! Records the schedule of the run in progress.

use crate::{Choice, RunDivergence, Schedule, SchedulingStrategy, TaskId};

/// Wraps a strategy and records its choices: those of the current run, or of the last one.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{FifoOrder, ScheduleRecorder, SchedulingStrategy, TaskId};
///
/// let mut recorder = ScheduleRecorder::new(FifoOrder::new());
/// assert!(recorder.begin_run());
/// let chosen = recorder.choose_task(&[TaskId(2), TaskId(5)], None);
/// assert_eq!(chosen, TaskId(2));
/// assert_eq!(recorder.schedule().len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct ScheduleRecorder<S> {
    strategy: S,
    schedule: Schedule,
}

impl<S> ScheduleRecorder<S> {
    /// Records what `strategy` chooses.
    pub const fn new(strategy: S) -> Self {
        ScheduleRecorder { strategy, schedule: Schedule::new() }
    }

    /// Returns the choices of this run so far.
    pub const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Returns the wrapped strategy.
    pub const fn strategy(&self) -> &S {
        &self.strategy
    }
}

impl<S: SchedulingStrategy> SchedulingStrategy for ScheduleRecorder<S> {
    fn begin_run(&mut self) -> bool {
        let begun = self.strategy.begin_run();
        if begun {
            self.schedule.clear();
        }
        begun
    }

    fn choose_task(&mut self, runnable: &[TaskId], current: Option<TaskId>) -> TaskId {
        let task = self.strategy.choose_task(runnable, current);
        debug_assert!(runnable.contains(&task), "task {task} is not runnable");
        self.schedule.push(Choice::Task(task));
        task
    }

    fn choose_value(&mut self, bound: u64) -> u64 {
        let value = self.strategy.choose_value(bound);
        debug_assert!(value < bound, "{value} is not below {bound}");
        self.schedule.push(Choice::Value(value));
        value
    }

    fn end_run(&mut self) -> Result<(), RunDivergence> {
        self.strategy.end_run()
    }

    fn is_exhaustive(&self) -> bool {
        self.strategy.is_exhaustive()
    }
}
