//! Repeats the choices of a recorded schedule.

use super::SchedulingStrategy;
use super::fifo::Queue;
use crate::schedule::Cursor;
use crate::{Choice, Divergence, Offer, Schedule, TaskId};

/// Makes one run, with the choices of a [`Schedule`].
///
/// A schedule may end before the program does: a failing run is recorded up to its failure, and a
/// program in which that is fixed goes on from there, under [`Fifo`](super::Fifo). A program that
/// does not offer what the schedule says, or that ends before the schedule, has diverged;
/// [`end_run`](SchedulingStrategy::end_run) says where.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{Divergence, Replay, Schedule, SchedulingStrategy, TaskId};
///
/// // Task 1, then task 0; recorded from a program that has both.
/// let schedule: Schedule = "coact1-100ff600h4".parse().unwrap();
/// let mut replay = Replay::new(schedule);
/// assert!(replay.begin_run());
/// assert_eq!(replay.choose_task(&[TaskId(0), TaskId(1)], None), TaskId(1));
/// // This program no longer has a task 0.
/// replay.choose_task(&[TaskId(1)], Some(TaskId(1)));
/// let divergence = replay.end_run().unwrap_err();
/// assert!(matches!(divergence, Divergence::Unavailable { at: 1, .. }));
/// ```
#[derive(Clone, Debug)]
pub struct Replay {
    schedule: Schedule,
    next: Cursor,
    /// The number of choices made.
    at: u64,
    phase: ReplayPhase,
    divergence: Option<Divergence>,
    /// Chooses after the end of the schedule, and in the rest of a run that diverged.
    beyond: Queue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplayPhase {
    Before,
    Running,
    Over,
}

impl Replay {
    /// Creates the strategy that replays `schedule`.
    pub fn new(schedule: Schedule) -> Self {
        Replay {
            schedule,
            next: Cursor::default(),
            at: 0,
            phase: ReplayPhase::Before,
            divergence: None,
            beyond: Queue::new(),
        }
    }

    /// Returns the next recorded choice as mapped by `usable`, or `None` if the schedule decides
    /// nothing here.
    fn follow<T>(
        &mut self,
        usable: impl FnOnce(Choice) -> Option<T>,
        offer: impl FnOnce() -> Offer,
    ) -> Option<T> {
        if self.divergence.is_some() {
            return None;
        }
        let recorded = self.next.next(&self.schedule)?;
        let chosen = usable(recorded);
        if chosen.is_none() {
            self.divergence =
                Some(Divergence::Unavailable { at: self.at, recorded, found: offer() });
        }
        self.at += 1;
        chosen
    }

    fn ended_early(&self) -> Option<Divergence> {
        (self.at < self.schedule.len())
            .then_some(Divergence::EndedEarly { at: self.at, expected: self.schedule.len() })
    }
}

impl SchedulingStrategy for Replay {
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
            || Offer::tasks(runnable, current),
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
            || Offer::Value { bound },
        );
        recorded.unwrap_or(0)
    }

    fn end_run(&mut self) -> Result<(), Divergence> {
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
