//! Work for a processor, as `bench/PROGRAMS.md` has it.

use std::time::{Duration, Instant};

/// Turns until this time is over.
pub fn busy(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}
