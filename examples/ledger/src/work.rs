//! Simulated work: a loop that keeps one core busy for about a given time.
//!
//! The loop counts iterations and not time. A worker that loses its core to another thread must
//! still do its whole share, or a crowded machine would look faster than it is.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The work that every operation does beside its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    iterations: u64,
}

impl Work {
    /// Work of this length on a core that does nothing else. Measures the core first, unless there
    /// is no work to do.
    pub fn lasting(length: Duration) -> Self {
        if length.is_zero() {
            return Self::default();
        }
        let iterations = length.as_secs_f64() / seconds_per_iteration();
        Self { iterations: iterations as u64 }
    }

    /// Does it.
    pub fn perform(self) {
        iterate(self.iterations);
    }
}

fn iterate(iterations: u64) {
    let mut state = black_box(1u64);
    for _ in 0..iterations {
        state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

/// The shortest of several measurements: disturbances only ever lengthen one.
fn seconds_per_iteration() -> f64 {
    const ITERATIONS: u64 = 200_000;
    let mut shortest = f64::INFINITY;
    for _ in 0..15 {
        let start = Instant::now();
        iterate(ITERATIONS);
        shortest = shortest.min(start.elapsed().as_secs_f64());
    }
    shortest / ITERATIONS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_work_is_free_and_more_work_is_longer() {
        assert_eq!(Work::lasting(Duration::ZERO), Work::default());
        let short = Work::lasting(Duration::from_micros(10));
        let long = Work::lasting(Duration::from_millis(10));
        assert!(0 < short.iterations && short.iterations < long.iterations);
    }
}
