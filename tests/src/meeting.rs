//! Meetings: proof that several behaviours run at the same time.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long a test waits for what must happen at some time, before it fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A barrier at which nobody waits for ever: if the others do not come, it says so.
#[derive(Clone, Debug)]
pub struct Meeting(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    size: usize,
    present: Mutex<usize>,
    changed: Condvar,
}

impl Meeting {
    /// A meeting of so many.
    pub fn of(size: usize) -> Self {
        let present = Mutex::new(0);
        Self(Arc::new(Shared { size, present, changed: Condvar::new() }))
    }

    /// Comes, and goes at once.
    pub fn count(&self) {
        *self.0.present.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.changed.notify_all();
    }

    /// Waits until all are here, each in the middle of its body. Returns whether they came.
    #[must_use]
    pub fn attend(&self) -> bool {
        let mut present = self.0.present.lock().unwrap_or_else(PoisonError::into_inner);
        *present += 1;
        self.0.changed.notify_all();
        let missing = |present: &mut usize| *present < self.0.size;
        let waited = self.0.changed.wait_timeout_while(present, PATIENCE, missing);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}
