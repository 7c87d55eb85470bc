//! The vocabulary of scheduling points: tasks, choices and offers.

use std::fmt;

/// A virtual task, identified by the number its driver gave it.
///
/// A number means the same task for the whole of a run, and in the next run with the same choices:
/// number tasks in the order of their creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One decision of a [`SchedulingStrategy`](crate::SchedulingStrategy).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// This task runs next.
    Task(TaskId),
    /// The program receives this value.
    Value(u64),
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Task(task) => write!(f, "task {task}"),
            Choice::Value(value) => write!(f, "value {value}"),
        }
    }
}

/// What a program offers at one scheduling point.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SchedulingOffer {
    /// Some task had to go next.
    Tasks {
        /// The tasks that could run, in ascending order.
        runnable: Box<[TaskId]>,
        /// The task that had been running, if it could go on.
        current: Option<TaskId>,
    },
    /// A value below `bound` is asked for.
    Value {
        /// The number of values to choose from.
        bound: u64,
    },
}

impl SchedulingOffer {
    pub(crate) fn tasks(runnable: &[TaskId], current: Option<TaskId>) -> Self {
        SchedulingOffer::Tasks { runnable: runnable.into(), current }
    }

    /// Whether this is `SchedulingOffer::tasks(runnable, current)`, without building that.
    pub(crate) fn is_tasks(&self, runnable: &[TaskId], current: Option<TaskId>) -> bool {
        matches!(self, SchedulingOffer::Tasks { runnable: r, current: c } if **r == *runnable && *c == current)
    }
}

impl fmt::Display for SchedulingOffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchedulingOffer::Tasks { runnable, current } => {
                f.write_str("runnable tasks [")?;
                for (i, task) in runnable.iter().enumerate() {
                    let separator = if i == 0 { "" } else { ", " };
                    write!(f, "{separator}{task}")?;
                }
                match current {
                    Some(task) => write!(f, "] with {task} running"),
                    None => f.write_str("] with none running"),
                }
            }
            SchedulingOffer::Value { bound } => write!(f, "a value below {bound}"),
        }
    }
}
