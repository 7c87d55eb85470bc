//! Bounded waits for a step that another thread is about to take.
//!
//! Some waits cannot be avoided: a producer has reserved a slot but not yet filled it, or the
//! thread in front is a few instructions away from its place in a queue. Normally the step is
//! nanoseconds away and spinning is right. If that thread has been preempted, the step is
//! milliseconds away, and spinning keeps the very core busy that it needs. A [`SpinBackoff`]
//! therefore goes through three phases:
//!
//! 1. *spin*: 1, 2, 4 … 32 pause instructions, 63 in all, about 1 µs;
//! 2. *yield* the core a few times;
//! 3. *nap*: 10 µs, doubling each time, up to 1 ms.
//!
//! In a model every step is a yield.

use std::fmt;
use std::time::Duration;

use crate::shim::{hint, thread};

/// The state of one wait; create a new one for each wait.
///
/// ```
/// use coact_sync::backoff::SpinBackoff;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let ready = AtomicBool::new(true);
/// let mut backoff = SpinBackoff::new();
/// while !ready.load(Ordering::Acquire) {
///     backoff.snooze();
/// }
/// ```
#[derive(Clone)]
pub struct SpinBackoff {
    step: u32,
}

impl SpinBackoff {
    const SPINS: u32 = if cfg!(loom) { 1 } else { 6 };
    const YIELDS: u32 = 8;
    const FIRST_NAP: Duration = Duration::from_micros(10);
    const LONGEST_NAP: Duration = Duration::from_millis(1);

    /// Creates a wait that has not begun.
    #[inline]
    pub const fn new() -> Self {
        Self { step: 0 }
    }

    /// Starts over, after the other thread has made progress.
    #[inline]
    pub fn reset(&mut self) {
        self.step = 0;
    }

    /// Waits one step, longer than the previous one.
    #[inline]
    pub fn snooze(&mut self) {
        if self.step < Self::SPINS {
            for _ in 0..1_u32 << self.step {
                hint::spin_loop();
            }
            self.step += 1;
        } else {
            self.rest();
        }
    }

    /// Returns whether the wait is past spinning. A caller that can do other work, or park, should
    /// do so.
    #[inline]
    pub fn is_patient(&self) -> bool {
        self.step >= Self::SPINS
    }

    #[cold]
    fn rest(&mut self) {
        if self.step < Self::SPINS + Self::YIELDS {
            thread::yield_now();
            self.step += 1;
        } else {
            // No event ends this wait: the thread waited for does not know of it.
            #[allow(clippy::disallowed_methods)]
            thread::sleep(self.nap());
            self.step = self.step.saturating_add(1);
        }
    }

    /// The length of the next nap.
    fn nap(&self) -> Duration {
        let doublings = (self.step - Self::SPINS - Self::YIELDS).min(10);
        (Self::FIRST_NAP * (1 << doublings)).min(Self::LONGEST_NAP)
    }
}

impl Default for SpinBackoff {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SpinBackoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpinBackoff")
            .field("step", &self.step)
            .field("is_patient", &self.is_patient())
            .finish()
    }
}

/// Waits until `step` returns a value, and returns it. The first call costs nothing extra.
///
/// ```
/// let mut looks = 0;
/// let seen = coact_sync::backoff::wait_for(|| { looks += 1; (looks == 3).then_some(looks) });
/// assert_eq!(seen, 3);
/// ```
#[inline]
pub fn wait_for<T>(mut step: impl FnMut() -> Option<T>) -> T {
    match step() {
        Some(value) => value,
        None => wait_longer(step),
    }
}

#[cold]
fn wait_longer<T>(mut step: impl FnMut() -> Option<T>) -> T {
    let mut backoff = SpinBackoff::new();
    loop {
        backoff.snooze();
        if let Some(value) = step() {
            return value;
        }
    }
}

/// Waits until `condition` holds.
#[inline]
pub fn spin_until(mut condition: impl FnMut() -> bool) {
    wait_for(|| condition().then_some(()));
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn spins_then_yields_then_naps_ever_longer_up_to_a_bound() {
        let mut backoff = SpinBackoff::new();
        for _ in 0..SpinBackoff::SPINS {
            assert!(!backoff.is_patient());
            backoff.snooze();
        }
        assert!(backoff.is_patient());
        for _ in 0..SpinBackoff::YIELDS {
            backoff.snooze();
        }
        assert_eq!(backoff.nap(), SpinBackoff::FIRST_NAP);
        backoff.step += 1;
        assert_eq!(backoff.nap(), SpinBackoff::FIRST_NAP * 2);
        backoff.step = u32::MAX;
        assert_eq!(backoff.nap(), SpinBackoff::LONGEST_NAP);
        backoff.snooze();
        assert_eq!(backoff.step, u32::MAX, "the step must not wrap");
        backoff.reset();
        assert!(!backoff.is_patient());
    }

    #[test]
    fn a_wait_ends_when_another_thread_takes_its_step() {
        let flag = std::sync::Arc::new(crate::shim::atomic::AtomicBool::new(false));
        let other = std::thread::spawn({
            let flag = flag.clone();
            // ORDERING: Release, partner is the Acquire load below.
            move || flag.store(true, crate::shim::atomic::Ordering::Release)
        });
        // ORDERING: Acquire, partner is the Release store above.
        spin_until(|| flag.load(crate::shim::atomic::Ordering::Acquire));
        other.join().unwrap();
    }
}
