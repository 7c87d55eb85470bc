//! Whether several runtimes are idle at one moment. For the argument, see README.md, "Several
//! runtimes".

use std::sync::Arc;
use std::task::Wake;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::external_threads;
use super::idle_waiters::IdleWatch;
use super::runtime_shared::RuntimeShared;
use crate::sched::idleness::RuntimeActivity;
use crate::simulated;

/// Runtimes, usually few.
pub(crate) type RuntimeList = SmallVec<[&'static RuntimeShared; 8]>;

/// Returns whether there was a moment, during this call, at which none of the runtimes had any
/// work: exact if no thread outside of them brings new work.
pub(crate) fn are_idle(runtimes: &[&'static RuntimeShared]) -> bool {
    activity(runtimes) == RuntimeActivity::Idle
}

/// Returns the activity of the runtimes; `Idle` if there was such a moment.
pub(crate) fn activity(runtimes: &[&RuntimeShared]) -> RuntimeActivity {
    if let [runtime] = runtimes {
        return if runtime.has_ended() { RuntimeActivity::Idle } else { runtime.activity() };
    }
    if runtimes.iter().any(|runtime| runtime.config.simulated) {
        // There is one thread: nothing happens during the check.
        let are_idle = runtimes.iter().all(|runtime| runtime.has_ended() || runtime.is_idle());
        return if are_idle { RuntimeActivity::Idle } else { RuntimeActivity::Work };
    }
    let stamps = || runtimes.iter().map(|runtime| runtime.stamp()).collect::<SmallVec<[_; 8]>>();
    let are_quiet =
        || runtimes.iter().all(|runtime| runtime.has_ended() || runtime.is_quiet_exactly());
    let is_one_of_them = |id| runtimes.iter().any(|runtime| runtime.id == id);
    let before = stamps();
    let have_external_threads = || external_threads::are_there_any_of(&is_one_of_them);
    RuntimeActivity::look(are_quiet, have_external_threads, || are_quiet() && stamps() == before)
}

struct UnparkOnIdle(Thread);

impl Wake for UnparkOnIdle {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks until all of the runtimes are idle at one moment, or the time has passed; returns whether
/// they were.
#[track_caller]
pub(crate) fn wait(runtimes: &[&'static RuntimeShared], timeout: Option<Duration>) -> bool {
    if simulated::is_active() {
        let idle = &"the moment at which several runtimes have no work left";
        return simulated::block_for(idle, timeout, &|| are_idle(runtimes));
    }
    let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let _watch = IdleWatch::new(Arc::new(UnparkOnIdle(thread::current())).into());
    loop {
        let activity = activity(runtimes);
        if activity == RuntimeActivity::Idle {
            return true;
        }
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return false;
        }
        match [activity.patience(), left].into_iter().flatten().min() {
            None => thread::park(),
            Some(patience) => thread::park_timeout(patience),
        }
    }
}

#[cfg(all(test, loom))]
mod loom;
