//! The stopwatch of a run, stopped by the last of the programs under test.
//!
//! The time ends in the work itself and not when a waiting thread has noticed it, so that the
//! figure holds no wake-up and no tear-down.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Counts the parts of a workload; the last part to end stamps the time.
///
/// ```
/// use coact_bench_workloads::Finish;
/// use std::time::Instant;
///
/// let start = Instant::now();
/// let finish = Finish::after(2);
/// let other = finish.clone();
/// std::thread::spawn(move || other.part(20));
/// finish.part(1);
/// let (_elapsed, result) = finish.wait(start);
/// assert_eq!(result, 21);
/// ```
#[derive(Clone)]
pub struct Finish(Arc<State>);

struct State {
    left: AtomicU64,
    sum: AtomicU64,
    ended: Mutex<Option<Instant>>,
    told: Condvar,
}

impl Finish {
    /// A finish that waits for this many parts.
    pub fn after(parts: u64) -> Finish {
        Finish(Arc::new(State {
            left: AtomicU64::new(parts),
            sum: AtomicU64::new(0),
            ended: Mutex::new(None),
            told: Condvar::new(),
        }))
    }

    /// Ends one part and adds its result to the sum of all.
    pub fn part(&self, result: u64) {
        let state = &*self.0;
        // ORDERING: Relaxed adds to the sum; the AcqRel decrement below makes each visible to the
        // last part.
        state.sum.fetch_add(result, Ordering::Relaxed);
        if state.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let now = Instant::now();
            *state.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
            state.told.notify_all();
        }
    }

    /// Waits for the last part; returns the time since `start` and the sum of the results.
    pub fn wait(&self, start: Instant) -> (Duration, u64) {
        let mut ended = self.0.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let end = loop {
            match *ended {
                Some(end) => break end,
                None => ended = self.0.told.wait(ended).unwrap_or_else(PoisonError::into_inner),
            }
        };
        (end.duration_since(start), self.0.sum.load(Ordering::Relaxed))
    }
}

/// A start that is stamped inside the work, where it begins there and not on the measuring thread.
#[derive(Clone, Default)]
pub struct Stopwatch(Arc<Mutex<Option<Instant>>>);

impl Stopwatch {
    /// Stamps the start.
    pub fn start(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Waits for the finish; returns the time since the stamped start and the sum of the results.
    ///
    /// # Panics
    /// If the work ended without having been started.
    pub fn until(&self, finish: &Finish) -> (Duration, u64) {
        finish.wait(Instant::now());
        let start = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        finish.wait(start.expect("the work stamps its start"))
    }
}
