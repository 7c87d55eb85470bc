//! A run as a value: its list of choices, and their printed form.
//!
//! The printed form is `coact1-` and base-32 digits; [`codec`] says what the digits hold.

mod base32;
mod checksum;
mod codec;
#[cfg(test)]
mod tests;

use std::iter::FusedIterator;

use crate::Choice;

pub use codec::ScheduleParseError;

/// The choices of one run, in order.
///
/// Equal choices in a row are kept as one entry with a count, in memory and in print: most
/// schedules are a few switches between long stretches of one task.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::{Choice, Schedule, TaskId};
///
/// let tasks = [0, 0, 0, 1, 0].map(|task| Choice::Task(TaskId(task)));
/// let schedule: Schedule = tasks.into_iter().collect();
/// assert_eq!(schedule.to_string(), "coact1-0g401hqvj4r0");
/// assert_eq!(schedule.to_string().parse(), Ok(schedule));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    stretches: Vec<RepeatedChoice>,
    len: u64,
}

/// The same choice, made `count` (at least 1) times in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RepeatedChoice {
    choice: Choice,
    count: u64,
}

impl Schedule {
    /// Creates the schedule of a run that has made no choice.
    pub const fn new() -> Self {
        Schedule { stretches: Vec::new(), len: 0 }
    }

    /// The number of choices.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether no choice has been made.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a choice.
    pub fn push(&mut self, choice: Choice) {
        self.push_stretch(RepeatedChoice { choice, count: 1 }).expect("no run makes 2^64 choices");
    }

    /// Removes every choice, keeping the memory for the next run.
    pub fn clear(&mut self) {
        self.stretches.clear();
        self.len = 0;
    }

    /// The choices in order.
    pub fn iter(&self) -> ChoiceIter<'_> {
        ChoiceIter { schedule: self, cursor: ScheduleCursor::default() }
    }

    /// Returns the last `stretches` runs of equal choices, each with its length.
    pub(crate) fn last(&self, stretches: usize) -> impl Iterator<Item = (Choice, u64)> {
        let first = self.stretches.len().saturating_sub(stretches);
        self.stretches[first..].iter().map(|stretch| (stretch.choice, stretch.count))
    }

    /// Appends a stretch, or returns `None` if the number of choices would overflow.
    fn push_stretch(&mut self, stretch: RepeatedChoice) -> Option<()> {
        self.len = self.len.checked_add(stretch.count)?;
        match self.stretches.last_mut() {
            Some(last) if last.choice == stretch.choice => last.count += stretch.count,
            _ => self.stretches.push(stretch),
        }
        Some(())
    }
}

impl FromIterator<Choice> for Schedule {
    fn from_iter<I: IntoIterator<Item = Choice>>(choices: I) -> Self {
        let mut schedule = Schedule::new();
        schedule.extend(choices);
        schedule
    }
}

impl Extend<Choice> for Schedule {
    fn extend<I: IntoIterator<Item = Choice>>(&mut self, choices: I) {
        choices.into_iter().for_each(|choice| self.push(choice));
    }
}

impl<'a> IntoIterator for &'a Schedule {
    type Item = Choice;
    type IntoIter = ChoiceIter<'a>;

    fn into_iter(self) -> ChoiceIter<'a> {
        self.iter()
    }
}

/// The choices of a [`Schedule`], in order.
#[derive(Clone, Debug)]
pub struct ChoiceIter<'a> {
    schedule: &'a Schedule,
    cursor: ScheduleCursor,
}

impl Iterator for ChoiceIter<'_> {
    type Item = Choice;

    fn next(&mut self) -> Option<Choice> {
        self.cursor.next(self.schedule)
    }
}

impl FusedIterator for ChoiceIter<'_> {}

/// A position in a schedule, independent of who owns the schedule.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ScheduleCursor {
    stretch: usize,
    /// Choices of that stretch already passed.
    used: u64,
}

impl ScheduleCursor {
    pub(crate) fn next(&mut self, schedule: &Schedule) -> Option<Choice> {
        let stretch = schedule.stretches.get(self.stretch)?;
        self.used += 1;
        if self.used == stretch.count {
            *self = ScheduleCursor { stretch: self.stretch + 1, used: 0 };
        }
        Some(stretch.choice)
    }
}
