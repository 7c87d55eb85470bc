//! Threads of a runtime that report when the last user code on them has returned.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder, JoinHandle};
use std::time::Instant;

/// A thread. The destructors of its thread-locals are user code, and may take long or never return
/// after the thread's function has returned: so joining it could block forever.
pub(crate) struct TrackedThread {
    handle: JoinHandle<()>,
    is_over: Arc<AtomicBool>,
}

/// Sets the flag when dropped: as the first thread-local of a thread it is dropped last.
struct SetWhenDropped(Arc<AtomicBool>);

impl Drop for SetWhenDropped {
    fn drop(&mut self) {
        // ORDERING: Relaxed. It guards nothing: a thread that has seen it then joins.
        self.0.store(true, Ordering::Relaxed);
    }
}

thread_local! {
    static OVER: Cell<Option<SetWhenDropped>> = const { Cell::new(None) };
}

impl TrackedThread {
    /// Starts a thread.
    pub(crate) fn start(
        settings: Builder,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = SetWhenDropped(Arc::clone(&is_over));
        let handle = settings.spawn(move || {
            OVER.set(Some(over));
            work();
        })?;
        Ok(Self { handle, is_over })
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        self.handle.thread().name().unwrap_or_default()
    }

    /// Returns whether its function has returned.
    pub(crate) fn has_returned(&self) -> bool {
        self.handle.is_finished()
    }

    /// Returns whether no user code runs on it any more.
    pub(crate) fn is_over(&self) -> bool {
        // ORDERING: Relaxed, see `SetWhenDropped`.
        self.has_returned() && self.is_over.load(Ordering::Relaxed)
    }

    /// Joins it once it is over, if that happens by then; otherwise leaves it running.
    pub(crate) fn join_until(self, until: Instant) {
        // From the return of its function it is moments to its end, except for destructors that
        // take long.
        while !self.is_over() && Instant::now() < until {
            thread::yield_now();
        }
        self.join_if_over();
    }

    /// The same at once.
    pub(crate) fn join_if_over(self) {
        if self.is_over() {
            // Its function catches the user's panics.
            let _ = self.handle.join();
        }
    }
}
