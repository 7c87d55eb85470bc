//! The fallback threads of a runtime, and which of them are idle.

use coact_sync::shim::sync::Mutex;
use parking::Unparker;

use crate::sched::tracked_thread::TrackedThread;

/// The fallback threads of a runtime, and which of them are idle.
#[derive(Default)]
pub(super) struct FallbackThreads(pub(super) Mutex<ThreadLists>);

#[derive(Default)]
pub(super) struct ThreadLists {
    pub(super) idle: Vec<Unparker>,
    pub(super) threads: Vec<TrackedThread>,
    pub(super) started: usize,
    pub(super) is_dismissed: bool,
    /// Whether the system's refusal of a thread was reported.
    pub(super) has_complained: bool,
}

impl FallbackThreads {
    /// Wakes an idle thread; returns whether there is one.
    pub(super) fn wake_one(&self) -> bool {
        let idle = self.0.lock().idle.pop();
        idle.is_some_and(|thread| {
            thread.unpark();
            true
        })
    }

    /// Adds a thread to the idle ones. Returns `false` if it must end.
    pub(super) fn rest(&self, thread: Unparker) -> bool {
        let mut state = self.0.lock();
        if !state.is_dismissed {
            state.idle.push(thread);
        }
        !state.is_dismissed
    }

    /// Ends the threads when they are idle.
    pub(super) fn dismiss(&self) {
        let idle = {
            let mut state = self.0.lock();
            state.is_dismissed = true;
            std::mem::take(&mut state.idle)
        };
        for thread in idle {
            thread.unpark();
        }
    }

    pub(super) fn take_threads(&self) -> Vec<TrackedThread> {
        std::mem::take(&mut self.0.lock().threads)
    }
}
