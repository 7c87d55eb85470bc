//! Progress on standard error, if that is a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Operations between two looks at the clock.
const STRIDE: usize = 64;
const INTERVAL: Duration = Duration::from_millis(100);

/// A line that says how far a replay is. It disappears on drop.
pub struct Progress {
    label: &'static str,
    total: usize,
    /// When the line was last written. None where there is no terminal to write to.
    written: Option<Instant>,
}

impl Progress {
    /// Progress towards `total` operations.
    pub fn new(label: &'static str, total: usize) -> Self {
        Self { label, total, written: stderr().is_terminal().then(Instant::now) }
    }

    /// Says that `done` operations are decided.
    pub fn at(&mut self, done: usize) {
        if done.is_multiple_of(STRIDE)
            && let Some(written) = &mut self.written
            && written.elapsed() >= INTERVAL
        {
            let Self { label, total, .. } = self;
            // A terminal that went away does not stop the replay.
            let _ = write!(
                stderr(),
                "\r{label}: {} %, {done} of {total}",
                done * 100 / (*total).max(1)
            );
            *written = Instant::now();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.written.is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
