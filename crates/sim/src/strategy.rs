//! Which task runs next: the trait [`SchedulingStrategy`] and its five implementations.
//!
//! The [crate's documentation](crate) has a table of when to use which one.

mod dfs;
mod fifo;
mod pct;
mod random;
mod replay;

pub use dfs::{Bounds, DepthFirstSearch};
pub use fifo::FifoOrder;
pub use pct::Pct;
pub use random::RandomWalk;
pub use replay::ScheduleReplay;

use crate::{RunDivergence, TaskId};

/// Makes the choices of many runs of one program.
///
/// A driver calls [`begin_run`](Self::begin_run), then, while its program runs,
/// [`choose_task`](Self::choose_task) and [`choose_value`](Self::choose_value) as often as the
/// program needs, and [`end_run`](Self::end_run) at the end. Runs do not overlap.
///
/// # Yielding
///
/// `current` is the task that has run until now, if it could simply go on; choosing another is a
/// *preemption*. A driver passes `None` when that task is blocked or has ended, and also when it
/// has yielded, as in a spin loop. Such a task may still be among `runnable`, but leaving it is no
/// preemption, and [`Pct`] and [`FifoOrder`] (which would otherwise let it spin forever) put it
/// behind the others.
pub trait SchedulingStrategy {
    /// Starts the next run. Returns `false` if there is nothing left to explore.
    ///
    /// # Panics
    ///
    /// Panics if the previous run diverged and [`end_run`](Self::end_run) was not called to report
    /// it.
    fn begin_run(&mut self) -> bool;

    /// Chooses which of `runnable` goes next. There is at least one, and they are in ascending
    /// order.
    fn choose_task(&mut self, runnable: &[TaskId], current: Option<TaskId>) -> TaskId;

    /// Chooses a value below `bound`, which is not zero: the program's source of randomness.
    fn choose_value(&mut self, bound: u64) -> u64;

    /// Ends the run, whether the program completed or gave up, and reports whether it was the run
    /// that the strategy intended.
    ///
    /// A divergence does not disturb the run itself: choices are made deep inside the program,
    /// where an error would have nowhere to go. The run goes on under [`FifoOrder`], and the first
    /// divergence is kept for this call.
    fn end_run(&mut self) -> Result<(), RunDivergence> {
        Ok(())
    }

    /// Returns whether the runs so far are all that exist, within the strategy's preemption bound
    /// if it has one.
    fn is_exhaustive(&self) -> bool {
        false
    }
}

impl<S: SchedulingStrategy + ?Sized> SchedulingStrategy for Box<S> {
    fn begin_run(&mut self) -> bool {
        (**self).begin_run()
    }

    fn choose_task(&mut self, runnable: &[TaskId], current: Option<TaskId>) -> TaskId {
        (**self).choose_task(runnable, current)
    }

    fn choose_value(&mut self, bound: u64) -> u64 {
        (**self).choose_value(bound)
    }

    fn end_run(&mut self) -> Result<(), RunDivergence> {
        (**self).end_run()
    }

    fn is_exhaustive(&self) -> bool {
        (**self).is_exhaustive()
    }
}
