//! A spare: a thread that runs tasks while a long behaviour occupies a worker.
//!
//! It is not a worker: what its tasks make ready goes through the inboxes, as from any other
//! thread. So its existence costs the workers nothing, and it can leave between any two tasks.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::spare_state::SpareState;
use super::state::Watchdog;
use crate::current::{EnteredRuntime, NestedBody};
use crate::panic::drop_quietly;
use crate::sched::local::TaskQueue;
use crate::sched::phase::RuntimePhase;
use crate::sched::runtime_shared::RuntimeShared;
use crate::task::TaskPtr;

/// How long a spare that finds nothing rests before it looks again.
const REST: Duration = Duration::from_millis(1);

impl SpareState {
    /// The main loop of the spare.
    pub(super) fn run(self: Arc<Self>, shared: &'static RuntimeShared, watchdog: &Watchdog) {
        shared.around_thread(|| self.serve(shared, watchdog));
    }

    fn serve(&self, shared: &'static RuntimeShared, watchdog: &Watchdog) {
        let _entered = EnteredRuntime::new(shared.id);
        // As on a worker, blocking calls panic here.
        let _inside = NestedBody::enter();
        if let Some(hook) = &shared.config.on_start {
            drop_quietly(&**hook);
        }
        while !watchdog.dismisses_spare() {
            if !self.work(shared) {
                thread::park_timeout(REST);
            }
        }
        if let Some(hook) = &shared.config.on_stop {
            drop_quietly(&**hook);
        }
    }

    /// Runs what is in one inbox, unless the spare is dismissed meanwhile. Returns whether there
    /// was anything.
    fn work(&self, shared: &'static RuntimeShared) -> bool {
        let Some(inbox) = shared.workers.iter().map(|w| &w.inbox).find(|inbox| !inbox.is_empty())
        else {
            return false;
        };
        // What it takes is in no visible queue, so it counts as outstanding meanwhile. (Not with
        // each look: a shutdown waits for as long as that changes.)
        shared.begin_outstanding();
        self.with_queue(|tasks| tasks.aged.extend(inbox.take_all()));
        while let Some(task) = self.with_queue(|tasks| tasks.aged.pop_front()) {
            self.run_chain(task, shared);
            if shared.phase() == RuntimePhase::Stopped
                || shared.watchdog().is_some_and(Watchdog::has_surplus)
            {
                shared.submit_all(self.with_queue(std::mem::take).aged);
                break;
            }
        }
        shared.end_outstanding();
        true
    }

    /// Runs a task, and those that follow it on the same cown, up to the throughput.
    fn run_chain(&self, task: TaskPtr, shared: &'static RuntimeShared) {
        let mut next = Some(task);
        for _ in 0..shared.config.throughput {
            let Some(task) = next else { return };
            // SAFETY: the task was taken from an inbox, or is a successor: ready, and owned by this
            // thread.
            next = unsafe { self.mark.run(task, shared.run_context()) };
        }
        shared.submit_all(next);
    }

    fn with_queue<R>(&self, work: impl FnOnce(&mut TaskQueue) -> R) -> R {
        // SAFETY: called only by the spare's thread (`run`), and no `work` re-enters.
        unsafe { self.local.with_queue(work) }
    }
}
