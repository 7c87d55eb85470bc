//! Progress on standard error, if that is a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often it is shown.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// A line that says how many orders are placed. It disappears on drop.
pub struct Progress {
    placed: Arc<AtomicU64>,
    total: u64,
    is_shown: bool,
}

impl Progress {
    pub fn new(total: u64) -> Self {
        Self { placed: Arc::default(), total, is_shown: stderr().is_terminal() }
    }

    /// What traders count their orders with.
    pub fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.placed)
    }

    pub fn show(&self) {
        if self.is_shown {
            let (placed, total) = (self.placed.load(Ordering::Relaxed), self.total);
            let percent = placed * 100 / total.max(1);
            // A terminal that went away does not stop the market.
            let _ = write!(stderr(), "\rtrading: {percent} %, {placed} of {total} orders");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
