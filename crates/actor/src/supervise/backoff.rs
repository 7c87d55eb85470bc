//! Delays before restarts.

use std::time::Duration;

/// How long a child waits before its restart: longer each time, up to a cap. Its messages wait with
/// it.
///
/// A child that has been up for longer than the cap starts with the first delay again.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::supervise::Backoff;
/// use std::time::Duration;
///
/// let backoff = Backoff::exponential(Duration::from_millis(100), Duration::from_secs(1));
/// let delays: Vec<_> = (0..5).map(|attempt| backoff.delay(attempt).as_millis()).collect();
/// assert_eq!(delays, [100, 200, 400, 800, 1000]);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Backoff {
    first: Duration,
    cap: Duration,
    factor: f64,
    jitter: f64,
    seed: u64,
}

impl Backoff {
    /// Returns no delay. The default.
    pub const fn none() -> Self {
        Self::exponential(Duration::ZERO, Duration::ZERO)
    }

    /// Returns the same delay each time.
    pub const fn constant(delay: Duration) -> Self {
        Self::exponential(delay, delay)
    }

    /// Returns delays that double each time, up to a cap.
    pub const fn exponential(first: Duration, cap: Duration) -> Self {
        Self { first, cap, factor: 2.0, jitter: 0.0, seed: 0 }
    }

    /// Sets the ratio of each delay to the one before, instead of 2.
    ///
    /// # Panics
    /// Panics if the factor is not a number, infinite, or below 1.
    #[track_caller]
    pub fn factor(self, factor: f64) -> Self {
        assert!(factor >= 1.0 && factor.is_finite(), "delays grow by a factor of at least 1");
        Self { factor, ..self }
    }

    /// Shortens each delay by a random part of up to this fraction of it, so that children that
    /// failed together do not restart together.
    ///
    /// # Panics
    /// Panics if the fraction is not between 0 and 1.
    #[track_caller]
    pub fn jitter(self, fraction: f64) -> Self {
        assert!((0.0..=1.0).contains(&fraction), "jitter is a fraction of the delay: 0 to 1");
        Self { jitter: fraction, ..self }
    }

    /// Sets the seed of the jitter, used together with the child's place in its supervisor: the
    /// same seed yields the same delays. Give each process its own seed if several must not restart
    /// together.
    pub const fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Returns the delay before a restart, after `attempt` earlier ones in a row.
    pub fn delay(&self, attempt: u32) -> Duration {
        self.delay_of(attempt, 0)
    }

    /// Returns the [`delay`](Self::delay) for one of several children.
    pub(crate) fn delay_of(&self, attempt: u32, child: u64) -> Duration {
        if self.first.is_zero() {
            return Duration::ZERO;
        }
        let exponent = i32::try_from(attempt).unwrap_or(i32::MAX);
        let grown = self.first.as_secs_f64() * self.factor.powi(exponent);
        let whole = Duration::try_from_secs_f64(grown).unwrap_or(self.cap).min(self.cap);
        if self.jitter == 0.0 {
            return whole;
        }
        whole.mul_f64(1.0 - self.jitter * fraction(self.seed, child, attempt)).min(whole)
    }

    /// Returns how long a child must have been up to count as healthy again.
    pub(crate) fn calm(&self) -> Duration {
        self.cap.max(self.first)
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::none()
    }
}

/// Returns a pseudorandom number in `0.0..1.0` (SplitMix64).
fn fraction(seed: u64, child: u64, attempt: u32) -> f64 {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let of_child = mix(seed.wrapping_add(child.wrapping_mul(STEP)).wrapping_add(STEP));
    let bits = mix(of_child.wrapping_add(u64::from(attempt).wrapping_mul(STEP)));
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_the_cap_and_do_not_overflow() {
        let backoff = Backoff::exponential(Duration::from_millis(1), Duration::from_secs(2));
        assert_eq!(backoff.delay(10), Duration::from_millis(1024));
        assert_eq!(backoff.delay(11), Duration::from_secs(2));
        assert_eq!(backoff.delay(u32::MAX), Duration::from_secs(2));
        let endless = Backoff::exponential(Duration::from_secs(1), Duration::MAX);
        assert_eq!(endless.delay(u32::MAX), Duration::MAX);
        assert_eq!(Backoff::none().delay(u32::MAX), Duration::ZERO);
    }

    #[test]
    fn jitter_stays_within_its_fraction_and_differs_by_child_and_seed() {
        let backoff = Backoff::constant(Duration::from_secs(8)).jitter(0.25);
        let delays = |backoff: Backoff, child| (0..50).map(move |n| backoff.delay_of(n, child));
        let range = Duration::from_secs(6)..=Duration::from_secs(8);
        assert!(delays(backoff, 1).all(|delay| range.contains(&delay)));
        assert!(delays(backoff, 1).eq(delays(backoff, 1)));
        assert!(delays(backoff, 1).ne(delays(backoff, 2)));
        assert!(delays(backoff, 1).ne(delays(backoff.seed(1), 1)));
    }

    #[test]
    #[should_panic(expected = "a factor of at least 1")]
    fn a_factor_that_shrinks_is_refused() {
        let _ = Backoff::none().factor(f64::NAN);
    }

    #[test]
    #[should_panic(expected = "0 to 1")]
    fn jitter_above_the_whole_is_refused() {
        let _ = Backoff::none().jitter(1.5);
    }
}
