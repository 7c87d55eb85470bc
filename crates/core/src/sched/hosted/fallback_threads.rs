//! The fallback threads of a runtime: which there are, and which have nothing to do.

use coact_sync::shim::sync::Mutex;
use parking::Unparker;

use crate::sched::thread::Thread;

/// The fallback threads of a runtime.
#[derive(Default)]
pub(super) struct FallbackThreads(pub(super) Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    pub(super) idle: Vec<Unparker>,
    pub(super) threads: Vec<Thread>,
    pub(super) started: usize,
    pub(super) is_dismissed: bool,
    /// Whether it was told that the system refuses a thread.
    pub(super) has_complained: bool,
}

impl FallbackThreads {
    /// Wakes a thread that has nothing to do; returns whether there is one.
    pub(super) fn wake_one(&self) -> bool {
        let idle = self.0.lock().idle.pop();
        idle.is_some_and(|thread| {
            thread.unpark();
            true
        })
    }

    /// Adds a thread to those that have nothing to do. Returns false if it is to end.
    pub(super) fn rest(&self, thread: Unparker) -> bool {
        let mut state = self.0.lock();
        if !state.is_dismissed {
            state.idle.push(thread);
        }
        !state.is_dismissed
    }

    /// Ends the threads, when they have nothing to do.
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

    pub(super) fn take_threads(&self) -> Vec<Thread> {
        std::mem::take(&mut self.0.lock().threads)
    }
}
