//! Who goes next: the question, and five ways to answer it.
//!
//! The [crate's documentation](crate) has a table of when to use which.

mod dfs;
mod fifo;
mod pct;
mod random;
mod replay;

pub use dfs::{Bounds, Dfs};
pub use fifo::Fifo;
pub use pct::Pct;
pub use random::Random;
pub use replay::Replay;

use crate::{Divergence, TaskId};

/// Makes the choices of many runs of one program.
///
/// A driver calls [`begin_run`](Self::begin_run), then, while its program runs,
/// [`choose_task`](Self::choose_task) and [`choose_value`](Self::choose_value) as often as the
/// program needs, and [`end_run`](Self::end_run) when it is over. Runs do not overlap.
///
/// # Turns given up
///
/// `current` is the task that has run until now, if it could simply go on; choosing another is a
/// *preemption*. A driver passes `None` when that task is blocked or has ended, and also when it
/// gave up its turn of its own accord, as in a spin loop that yields. Such a task may still be
/// among `runnable`, but leaving it is no preemption, and [`Pct`] and [`Fifo`] (which would
/// otherwise let it spin for ever) put it behind the others.
pub trait Strategy {
    /// Starts the next run. `false` if there is nothing left to explore.
    ///
    /// # Panics
    ///
    /// If the previous run diverged and nobody called [`end_run`](Self::end_run) to hear of it.
    fn begin_run(&mut self) -> bool;

    /// Chooses which of `runnable` goes next. They are in ascending order, at least one.
    fn choose_task(&mut self, runnable: &[TaskId], current: Option<TaskId>) -> TaskId;

    /// Chooses a value below `bound`, which is not zero: the randomness a program asks for.
    fn choose_value(&mut self, bound: u64) -> u64;

    /// Ends the run, whether the program was done or gave up, and says whether it was the run that
    /// the strategy meant.
    ///
    /// A divergence does not disturb the run itself: choices are made somewhere deep in the
    /// program, where an error would have nowhere to go. The run goes on under [`Fifo`], and the
    /// first divergence is kept for this call.
    fn end_run(&mut self) -> Result<(), Divergence> {
        Ok(())
    }

    /// Whether the runs so far were all that there are, within the strategy's preemption bound if
    /// it has one.
    fn is_exhaustive(&self) -> bool {
        false
    }
}

impl<S: Strategy + ?Sized> Strategy for Box<S> {
    fn begin_run(&mut self) -> bool {
        (**self).begin_run()
    }

    fn choose_task(&mut self, runnable: &[TaskId], current: Option<TaskId>) -> TaskId {
        (**self).choose_task(runnable, current)
    }

    fn choose_value(&mut self, bound: u64) -> u64 {
        (**self).choose_value(bound)
    }

    fn end_run(&mut self) -> Result<(), Divergence> {
        (**self).end_run()
    }

    fn is_exhaustive(&self) -> bool {
        (**self).is_exhaustive()
    }
}
