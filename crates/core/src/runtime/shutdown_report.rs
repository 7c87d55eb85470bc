//! What a shutdown left undone.

use std::fmt;

use crate::sched::stuck::Stuck;

/// What a shutdown left undone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// How many behaviours, futures, jobs and timers were dropped without having run to their end; among them messages
    /// that came to actors which the shutdown had told to stop, and handlers of theirs that were waiting. (What stands in
    /// a queue behind a behaviour that is stuck is dropped when that ends, and not counted here. What an actor would have
    /// done beside its messages, as obeying a directive, counts as a behaviour.)
    pub abandoned: usize,
    /// How many workers were still in the middle of a behaviour when the wait ended, and other threads in one
    /// that runs [on the spot](crate::when_here). The workers' threads end after it.
    pub stuck_workers: usize,
    /// How many [blocking](crate::runtime::blocking) jobs were still under way. Their threads end after them.
    pub stuck_jobs: usize,
    /// How many guards of [`RuntimeHandle::hold_open`](crate::runtime::RuntimeHandle::hold_open) were still there: what they have announced may
    /// come yet, and is refused. (Where workers are stuck it may be too few, since these may be in futures.)
    pub held_open: usize,
    /// What the workers and jobs are in: an entry for each that is stuck.
    pub stuck: Vec<Stuck>,
}

impl ShutdownReport {
    /// Whether all work was done.
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
            write!(f, ", {stuck_jobs} blocking job{} still under way", plural(stuck_jobs))?;
        }
        if *held_open > 0 {
            write!(f, ", held open by {held_open} guard{}", plural(held_open))?;
        }
        for (at, stuck) in stuck.iter().enumerate() {
            write!(f, "{}{stuck}", if at == 0 { ": " } else { ", " })?;
        }
        Ok(())
    }
}
