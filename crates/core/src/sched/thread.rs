//! Threads of a runtime that tell when the last of the user's code on them has returned.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder, JoinHandle};
use std::time::Instant;

/// One thread. The destructors of its thread-locals are the user's, and may take their time or never return, when what
/// it was started for has returned: so to join it could be to wait for ever.
pub(crate) struct Thread {
    handle: JoinHandle<()>,
    is_over: Arc<AtomicBool>,
}

/// Set when it is dropped: as the first thread-local of a thread it is the last to be.
struct Over(Arc<AtomicBool>);

impl Drop for Over {
    fn drop(&mut self) {
        // ORDERING: Relaxed. It guards nothing: who has seen it joins the thread.
        self.0.store(true, Ordering::Relaxed);
    }
}

thread_local! {
    static OVER: Cell<Option<Over>> = const { Cell::new(None) };
}

impl Thread {
    /// Starts a thread.
    pub(crate) fn start(
        settings: Builder,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Over(Arc::clone(&is_over));
        let handle = settings.spawn(move || {
            OVER.set(Some(over));
            work();
        })?;
        Ok(Self { handle, is_over })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.handle.thread().name().unwrap_or_default()
    }

    /// Whether what it was started for has returned.
    pub(crate) fn has_returned(&self) -> bool {
        self.handle.is_finished()
    }

    /// Whether nothing of the user's runs on it any more.
    pub(crate) fn is_over(&self) -> bool {
        // ORDERING: Relaxed, as in `Over`.
        self.has_returned() && self.is_over.load(Ordering::Relaxed)
    }

    /// Joins it once it is over, if that is so by then, and leaves it to itself otherwise.
    pub(crate) fn join_until(self, until: Instant) {
        // From what it was started for it is moments to its end, but for destructors that take their time.
        while !self.is_over() && Instant::now() < until {
            thread::yield_now();
        }
        self.join_if_over();
    }

    /// The same at once.
    pub(crate) fn join_if_over(self) {
        if self.is_over() {
            // What it runs catches the user's panics.
            let _ = self.handle.join();
        }
    }
}
