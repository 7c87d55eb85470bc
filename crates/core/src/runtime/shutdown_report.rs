//! What a shutdown left undone.

use std::fmt;

use crate::sched::stuck_thread::Stuck;

/// What a shutdown left undone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// The number of behaviours, futures, jobs and timers that were dropped without completing,
    /// including messages to actors that the shutdown had told to stop, and waiting handlers of
    /// these. (What is queued behind a stuck behaviour is dropped when that ends, and not counted
    /// here; nor is what waits behind a behaviour of another runtime:
    /// [`wait_idle_all`](crate::Runtime::wait_idle_all), before the shutdown, waits for that. Moves
    /// of cowns and actors are not counted. Work of an actor besides its messages, such as obeying
    /// a signal, counts as a behaviour.)
    pub abandoned: usize,
    /// The number of workers that were still in a behaviour when the wait ended, plus other threads
    /// in a behaviour that runs [inline](crate::when_here). The workers' threads end after it.
    pub stuck_workers: usize,
    /// The number of [blocking](crate::runtime::blocking) jobs that were still running. Their
    /// threads end after them.
    pub stuck_jobs: usize,
    /// The number of guards of
    /// [`RuntimeHandle::hold_open`](crate::runtime::RuntimeHandle::hold_open) that still existed:
    /// what they have announced may still come, and is refused. (If workers are stuck the number
    /// may be too low, since these may be in futures.)
    pub held_open: usize,
    /// What the workers and jobs are running: one entry per stuck one.
    pub stuck: Vec<Stuck>,
}

impl ShutdownReport {
    /// Returns whether all work was done.
    pub fn is_complete(&self) -> bool {
        let Self { abandoned, stuck_workers, stuck_jobs, held_open, stuck: _ } = *self;
        [abandoned, stuck_workers, stuck_jobs, held_open] == [0; 4]
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_complete() {
            return f.write_str("all work was done");
        }
        let Self { abandoned, stuck_workers, stuck_jobs, held_open, stuck } = self;
        let plural = |count: &usize| if *count == 1 { "" } else { "s" };
        write!(f, "{abandoned} piece{} of work abandoned", plural(abandoned))?;
        write!(f, ", {stuck_workers} worker{} still in a behaviour", plural(stuck_workers))?;
        if *stuck_jobs > 0 {
            write!(f, ", {stuck_jobs} blocking job{} still running", plural(stuck_jobs))?;
        }
        if *held_open > 0 {
            write!(f, ", held open by {held_open} guard{}", plural(held_open))?;
        }
        for (at, stuck) in stuck.iter().enumerate() {
            write!(f, "{}{stuck}", if at == 0 { ": " } else { ", " })?;
        }
        if *stuck_workers > 0 {
            let rest = "what is queued behind a stuck behaviour is dropped when that ends";
            write!(f, "; {rest}, and not counted")?;
        }
        Ok(())
    }
}
