//! Whether a runtime has work left, and waiting until it has none. See README.md, "Idleness".

use std::fmt::{self, Display};
use std::time::{Duration, Instant};

use coact_sync::shim::atomic::{Ordering, fence};

use super::runtime_shared::RuntimeShared;
use super::{external_threads, idle_waiters};
use crate::simulated;

/// Longer than any wait.
const FOREVER: Duration = Duration::from_secs(1 << 31);

/// The result of checking one or several runtimes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RuntimeActivity {
    /// No work is left.
    Idle,
    /// All workers rest, but external threads are at work, which do not notify when they leave.
    ExternalThreads,
    /// There is work. The end of the last of it notifies.
    Work,
}

impl RuntimeActivity {
    /// Checks runtimes that are quiet if no work is left except, possibly, that of external
    /// threads. An external thread may leave a task, and a worker take it, meanwhile: so external
    /// threads are looked for between two checks of the rest. For the argument, see README.md,
    /// "Idleness".
    pub(super) fn look(
        are_quiet: impl FnOnce() -> bool,
        have_external_threads: impl FnOnce() -> bool,
        are_quiet_still: impl FnOnce() -> bool,
    ) -> Self {
        if !are_quiet() {
            Self::Work
        } else if have_external_threads() {
            Self::ExternalThreads
        } else if are_quiet_still() {
            Self::Idle
        } else {
            // A thread that has done something meanwhile has notified since, or is going to.
            Self::Work
        }
    }

    /// How long a waiter for idleness sleeps before it checks again, if it is not going to be
    /// notified. External threads stay for a few instructions, or one body.
    pub(super) fn patience(self) -> Option<Duration> {
        (self == Self::ExternalThreads).then_some(Duration::from_millis(1))
    }
}

impl RuntimeShared {
    /// Counts work that is in no queue.
    pub(crate) fn begin_outstanding(&self) {
        self.outstanding.begin();
    }

    /// The same for work that its owner may leak without end.
    pub(crate) fn begin_outstanding_guard(&self) {
        self.outstanding.begin_guard();
    }

    /// Ends it, after what it leads to was submitted.
    pub(crate) fn end_outstanding(&self) {
        if self.outstanding.end() {
            // ORDERING: SeqCst pairs with the fence in `SleepingWorkers::fall_asleep`: either this
            // thread sees the last worker asleep, or that one sees that nothing is outstanding, and
            // one of them notifies.
            fence(Ordering::SeqCst);
            self.tell_if_idle();
        }
    }

    /// Returns whether no work is left: exact if no other thread brings new work.
    pub(crate) fn is_idle(&self) -> bool {
        self.activity() == RuntimeActivity::Idle
    }

    /// Returns the activity; `Idle` is exact if no other thread brings new work.
    pub(crate) fn activity(&self) -> RuntimeActivity {
        if self.config.simulated {
            return if self.is_quiet_in_simulation() {
                RuntimeActivity::Idle
            } else {
                RuntimeActivity::Work
            };
        }
        let is_quiet = || self.is_quiet();
        RuntimeActivity::look(is_quiet, || external_threads::are_there_any(self.id), is_quiet)
    }

    fn is_quiet_in_simulation(&self) -> bool {
        // What a run has left behind does nothing any more.
        !simulated::is_active() || !simulated::has_tasks(self.id) && self.has_nothing_outstanding()
    }

    /// Returns whether no work is left outside of the queues.
    pub(crate) fn has_nothing_outstanding(&self) -> bool {
        self.outstanding() == 0
    }

    /// Returns how much work is left outside of the queues.
    pub(crate) fn outstanding(&self) -> u32 {
        self.outstanding.current()
    }

    /// Returns whether no work is left except, possibly, that of external threads.
    pub(super) fn is_quiet(&self) -> bool {
        self.has_nothing_outstanding()
            && self.idle.sleeping() == self.workers.len()
            && !self.has_tasks()
    }

    /// Notifies waiters for idleness so that they check.
    pub(crate) fn tell_if_idle(&self) {
        if self.is_quiet() {
            self.tell();
        }
    }

    /// Notifies waiters for idleness, or for the end, so that they check.
    pub(crate) fn tell(&self) {
        let alive = self.alive.lock();
        self.changed.notify_all();
        drop(alive);
        idle_waiters::tell();
    }

    /// Returns whether no work is left except, possibly, that of external threads; for a check that
    /// must be exact.
    pub(super) fn is_quiet_exactly(&self) -> bool {
        self.has_nothing_outstanding()
            && self.idle.are_asleep(self.workers.len())
            && !self.has_tasks()
    }

    /// Returns how much work has been taken and begun: equal at two times between which the runtime
    /// has done nothing. README.md, "Several runtimes".
    pub(super) fn stamp(&self) -> (u64, u64) {
        // ORDERING: Relaxed. `are_asleep` and `has_nothing_outstanding` order the counts.
        let ticks = self.workers.iter().map(|worker| worker.ticks.load(Ordering::Relaxed));
        (ticks.sum(), self.outstanding.begun())
    }

    /// Describes what a simulated thread waits for here.
    fn idleness(&self) -> impl Display {
        fmt::from_fn(move |f| {
            let name = &self.config.name;
            match self.outstanding.current_for_report() {
                0 => write!(f, "runtime `{name}` to have no work left"),
                some => {
                    write!(f, "runtime `{name}` to have no work left")?;
                    write!(f, " (jobs, futures and holds: {some})")
                }
            }
        })
    }

    /// Blocks until no work is left.
    #[track_caller]
    pub(crate) fn wait_idle(&self) {
        if simulated::block_until(&self.idleness(), &|| self.is_idle()) {
            return;
        }
        while !self.wait_idle_for(Duration::from_secs(3600)) {}
    }

    /// Blocks until no work is left, or the time has passed; returns whether none is left.
    #[track_caller]
    pub(crate) fn wait_idle_for(&self, time: Duration) -> bool {
        if self.config.simulated && simulated::is_active() {
            return simulated::block_for(&self.idleness(), Some(time), &|| self.is_idle());
        }
        let start = Instant::now();
        let until = start.checked_add(time).unwrap_or(start + FOREVER);
        let mut alive = self.alive.lock();
        loop {
            let activity = if *alive == 0 { RuntimeActivity::Idle } else { self.activity() };
            if activity == RuntimeActivity::Idle {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let patience = activity.patience().unwrap_or(left);
            alive = self.changed.wait_timeout(alive, patience.min(left)).0;
        }
    }
}
