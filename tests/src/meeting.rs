//! Meetings: proof that several behaviours run at the same time.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use coact_sync::shim::process::{Condvar, Mutex};

/// How long a test waits for what must happen at some time, before it fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Runs all at the same time, each on a thread of its own, and waits for all. It joins each thread,
/// which the thread sanitizer sees, other than the end of a scope.
///
/// # Panics
/// If one of them panics.
pub fn side_by_side<F: FnOnce() + Send>(all: impl IntoIterator<Item = F>) {
    thread::scope(|scope| {
        let threads: Vec<_> = all.into_iter().map(|main| scope.spawn(main)).collect();
        for thread in threads {
            thread.join().unwrap_or_else(|payload| resume_unwind(payload));
        }
    });
}

/// A barrier with a time limit: [`wait`](Self::wait) says whether all have arrived.
#[derive(Clone, Debug)]
pub struct Meeting(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    size: usize,
    present: Mutex<usize>,
    changed: Condvar,
}

impl Meeting {
    /// Creates a meeting of this many.
    pub fn of(size: usize) -> Self {
        let present = Mutex::new(0);
        Self(Arc::new(Shared { size, present, changed: Condvar::new() }))
    }

    /// Arrives, and does not wait for the others.
    pub fn arrive(&self) {
        *self.0.present.lock() += 1;
        self.0.changed.notify_all();
    }

    /// Waits until all have arrived, each in the middle of its body. Returns false if the time is
    /// up.
    #[must_use = "it is false if the others did not arrive in time"]
    pub fn wait(&self) -> bool {
        let mut present = self.0.present.lock();
        *present += 1;
        self.0.changed.notify_all();
        let until = Instant::now() + PATIENCE;
        while *present < self.0.size {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            present = self.0.changed.wait_timeout(present, left).0;
        }
        true
    }
}
