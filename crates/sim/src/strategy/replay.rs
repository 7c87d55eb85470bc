//! Repeats the choices of a recorded schedule.

use super::SchedulingStrategy;
use super::fifo::FifoQueue;
use crate::schedule::ScheduleCursor;
use crate::{Choice, RunDivergence, Schedule, SchedulingOffer, TaskId};

/// Makes one run, with the choices of a [`Schedule`].
///
/// A schedule may end before the program does: a failing run is recorded up to its failure, and a
/// program in which that is fixed goes on from there, under [`FifoOrder`](super::FifoOrder). A
/// program that does not offer what the schedule says, or that ends before the schedule, has
/// diverged; [`end_run`](SchedulingStrategy::end_run) says where.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{RunDivergence, ScheduleReplay, Schedule, SchedulingStrategy, TaskId};
///
/// // Task 1, then task 0; recorded from a program that has both.
/// let schedule: Schedule = "coact1-100ff600h4".parse().unwrap();
/// let mut replay = ScheduleReplay::new(schedule);
/// assert!(replay.begin_run());
/// assert_eq!(replay.choose_task(&[TaskId(0), TaskId(1)], None), TaskId(1));
/// // This program no longer has a task 0.
/// replay.choose_task(&[TaskId(1)], Some(TaskId(1)));
/// let divergence = replay.end_run().unwrap_err();
/// assert!(matches!(divergence, RunDivergence::Unavailable { at: 1, .. }));
/// ```
#[derive(Clone, Debug)]
pub struct ScheduleReplay {
    schedule: Schedule,
    next: ScheduleCursor,
    /// The number of choices made.
    at: u64,
    phase: ReplayPhase,
    divergence: Option<RunDivergence>,
    /// Chooses after the end of the schedule, and in the rest of a run that diverged.
    beyond: FifoQueue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplayPhase {
    Before,
    Running,
    Over,
}

impl ScheduleReplay {
    /// Creates the strategy that replays `schedule`.
    pub fn new(schedule: Schedule) -> Self {
        ScheduleReplay {
            schedule,
            next: ScheduleCursor::default(),
            at: 0,
            phase: ReplayPhase::Before,
            divergence: None,
            beyond: FifoQueue::new(),
        }
    }

    /// Returns the next recorded choice as mapped by `usable`, or `None` if the schedule decides
    /// nothing here.
    fn follow<T>(
        &mut self,
        usable: impl FnOnce(Choice) -> Option<T>,
        offer: impl FnOnce() -> SchedulingOffer,
    ) -> Option<T> {
        if self.divergence.is_some() {
            return None;
        }
        let recorded = self.next.next(&self.schedule)?;
        let chosen = usable(recorded);
        if chosen.is_none() {
            self.divergence =
                Some(RunDivergence::Unavailable { at: self.at, recorded, found: offer() });
        }
        self.at += 1;
        chosen
    }

    fn ended_early(&self) -> Option<RunDivergence> {
        (self.at < self.schedule.len())
            .then_some(RunDivergence::EndedEarly { at: self.at, expected: self.schedule.len() })
    }
}

impl SchedulingStrategy for ScheduleReplay {
    fn begin_run(&mut self) -> bool {
        self.end_run().unwrap_or_else(|divergence| panic!("{divergence}"));
        let first = self.phase == ReplayPhase::Before;
        if first {
            self.phase = ReplayPhase::Running;
        }
        first
    }

    fn choose_task(&mut self, runnable: &[TaskId], current: Option<TaskId>) -> TaskId {
        let recorded = self.follow(
            |choice| match choice {
                Choice::Task(task) if runnable.contains(&task) => Some(task),
                _ => None,
            },
            || SchedulingOffer::tasks(runnable, current),
        );
        recorded.unwrap_or_else(|| self.beyond.next(runnable, current))
    }

    fn choose_value(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no value below 0");
        let recorded = self.follow(
            |choice| match choice {
                Choice::Value(value) if value < bound => Some(value),
                _ => None,
            },
            || SchedulingOffer::Value { bound },
        );
        recorded.unwrap_or(0)
    }

    fn end_run(&mut self) -> Result<(), RunDivergence> {
        if self.phase != ReplayPhase::Running {
            return Ok(());
        }
        self.phase = ReplayPhase::Over;
        match self.divergence.take().or_else(|| self.ended_early()) {
            Some(divergence) => Err(divergence),
            None => Ok(()),
        }
    }
}
