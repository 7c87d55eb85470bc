//! A spare as the watchdog sees it.

use super::current_task::CurrentTask;
use crate::sched::local::LocalQueue;

/// The part of a [spare thread](super::spare_thread) that the watchdog sees.
pub(super) struct SpareState {
    pub(super) mark: CurrentTask,
    /// Tasks that it has taken from an inbox. The watchdog returns them if it stalls.
    pub(super) local: LocalQueue,
}

impl SpareState {
    pub(super) fn new() -> Self {
        Self { mark: CurrentTask::new(), local: LocalQueue::new() }
    }
}
