//! The seed of an exploration, from which all its randomness comes.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::num::ParseIntError;
use std::str::FromStr;

/// The seed of an exploration: the same seed gives the same runs.
///
/// Prints as hexadecimal; parses decimal, or hexadecimal after `0x`.
///
/// ```
/// # mod coact { pub use coact_sim as sim; }
/// use coact::sim::Seed;
///
/// assert_eq!("0x2a".parse(), Ok(Seed::new(42)));
/// assert_eq!("42".parse(), Ok(Seed::new(42)));
/// assert_eq!(Seed::new(42).to_string(), "0x2a");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seed(u64);

impl Seed {
    /// Creates a seed from a number.
    pub const fn new(value: u64) -> Self {
        Seed(value)
    }

    /// Creates an unpredictable seed, from the entropy that seeds std's hash maps.
    ///
    /// For a test that wants new schedules on every invocation; a failure prints the seed.
    pub fn fresh() -> Self {
        Seed(RandomState::new().hash_one(()))
    }

    /// Returns the number.
    pub const fn value(self) -> u64 {
        self.0
    }

    /// The seed of one run, so that its choices do not depend on how many the runs before it made.
    pub(crate) fn for_run(self, run: u64) -> Seed {
        let mut state = self.0;
        let mut mixed = split_mix(&mut state) ^ run;
        Seed(split_mix(&mut mixed))
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl FromStr for Seed {
    type Err = SeedParseError;

    fn from_str(text: &str) -> Result<Self, SeedParseError> {
        let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let parsed = match hex {
            // `from_str_radix` accepts a sign, which no printed seed has.
            Some(digits) if digits.starts_with('+') => "+".parse(),
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        parsed.map(Seed).map_err(|reason| SeedParseError { reason })
    }
}

/// The text is not a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedParseError {
    reason: ParseIntError,
}

impl fmt::Display for SeedParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = &self.reason;
        write!(f, "a seed is a 64-bit number, decimal or hexadecimal after 0x: {reason}")
    }
}

impl std::error::Error for SeedParseError {}

/// One SplitMix64 step: advances `state` and returns the next output.
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "0x", "0x+5", "-1", "seed", "0x1_0", "18446744073709551616", " 1"] {
            assert!(text.parse::<Seed>().is_err(), "{text:?}");
        }
        assert_eq!("18446744073709551615".parse(), Ok(Seed::new(u64::MAX)));
        assert_eq!("0XFF".parse(), Ok(Seed::new(255)));
    }

    #[test]
    fn runs_have_seeds_of_their_own() {
        let seeds = (0..4).flat_map(|s| (0..1000).map(move |run| Seed::new(s).for_run(run)));
        assert_eq!(seeds.collect::<HashSet<_>>().len(), 4000);
    }

    #[test]
    fn fresh_seeds_differ() {
        assert_ne!(Seed::fresh(), Seed::fresh());
    }

    proptest! {
        #[test]
        fn printing_and_parsing_agree(value: u64) {
            let seed = Seed::new(value);
            prop_assert_eq!(seed.to_string().parse(), Ok(seed));
            prop_assert_eq!(value.to_string().parse(), Ok(seed));
        }
    }
}
