//! What the machine can do at this moment, so that figures of different hours can be told apart.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use coact_bench_workloads::random::spin;
use serde::{Deserialize, Serialize};

/// The longest that bouncing the cache line may take.
const LIMIT: Duration = Duration::from_millis(30);

/// Costs of three basic things, in nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Calibration {
    /// A step of a fixed loop of dependent arithmetic.
    pub step_ns: f64,
    /// An uncontended atomic add.
    pub atomic_add_ns: f64,
    /// A cache line bounced between two threads, there and back.
    pub round_trip_ns: f64,
}

impl Calibration {
    /// Measures; takes about a tenth of a second.
    pub fn take() -> Calibration {
        Calibration { step_ns: step(), atomic_add_ns: atomic_add(), round_trip_ns: round_trip() }
    }
}

impl std::fmt::Display for Calibration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Calibration { step_ns, atomic_add_ns, round_trip_ns } = self;
        write!(
            f,
            "arithmetic step {step_ns:.2} ns, atomic add {atomic_add_ns:.2} ns, \
             cache line round trip {round_trip_ns:.0} ns"
        )
    }
}

fn step() -> f64 {
    const STEPS: u64 = 10_000_000;
    let start = Instant::now();
    spin(STEPS);
    start.elapsed().as_nanos() as f64 / STEPS as f64
}

fn atomic_add() -> f64 {
    const ADDS: u64 = 5_000_000;
    let word = AtomicU64::new(0);
    let start = Instant::now();
    for _ in 0..ADDS {
        std::hint::black_box(&word).fetch_add(1, Ordering::Relaxed);
    }
    start.elapsed().as_nanos() as f64 / ADDS as f64
}

fn round_trip() -> f64 {
    /// Ends the partner.
    const STOP: u64 = u64::MAX;
    /// Trips between two looks at the clock.
    const BATCH: u64 = 500;
    let line = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Odd numbers come, even numbers go back.
            let mut awaited = 1;
            while await_either(&line, awaited, STOP) == awaited {
                line.store(awaited + 1, Ordering::Relaxed);
                awaited += 2;
            }
        });
        let start = Instant::now();
        let mut trips = 0;
        // On a busy machine a trip may take as long as a time slice, so the time is limited, not
        // the number.
        while trips < 100 * BATCH && start.elapsed() < LIMIT {
            for trip in trips..trips + BATCH {
                line.store(2 * trip + 1, Ordering::Relaxed);
                await_either(&line, 2 * trip + 2, STOP);
            }
            trips += BATCH;
        }
        let elapsed = start.elapsed();
        line.store(STOP, Ordering::Relaxed);
        elapsed.as_nanos() as f64 / trips as f64
    })
}

/// Waits until the word is one of two values; returns it.
///
/// ORDERING: Relaxed; the word is all that passes between the threads.
fn await_either(line: &AtomicU64, value: u64, other: u64) -> u64 {
    let mut looks = 0_u32;
    loop {
        let found = line.load(Ordering::Relaxed);
        if found == value || found == other {
            return found;
        }
        // Where only one processor is free, the partner can answer only if this thread lets it run.
        looks += 1;
        if looks.is_multiple_of(1 << 10) {
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Calibration;

    #[test]
    fn every_cost_is_positive() {
        let calibration = Calibration::take();
        assert!(calibration.step_ns > 0.0);
        assert!(calibration.atomic_add_ns > 0.0);
        assert!(calibration.round_trip_ns > 0.0);
    }
}
