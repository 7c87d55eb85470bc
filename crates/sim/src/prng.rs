//! The generator behind every random strategy: xoshiro256\*\*, seeded by SplitMix64.
//!
//! Both are by David Blackman and Sebastiano Vigna, public domain: the reference code is
//! `xoshiro256starstar.c` and `splitmix64.c` at <https://prng.di.unimi.it>. With a generator of its
//! own, the crate's printed seeds keep their schedules, whatever other crates do.

use crate::Seed;
use crate::seed::split_mix;

/// A xoshiro256** generator.
#[derive(Clone, Debug)]
pub(crate) struct Prng {
    state: [u64; 4],
}

impl Prng {
    /// SplitMix64 spreads the seed, as the authors advise. Its outputs are a permutation of its
    /// counter, so no two of the four words are equal and the state is not all zeroes, which
    /// xoshiro256** never leaves.
    pub(crate) fn new(seed: Seed) -> Self {
        let mut counter = seed.value();
        Prng { state: std::array::from_fn(|_| split_mix(&mut counter)) }
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a uniform value below `bound`, by Lemire's method (ACM TOMACS 29(1), 2019): the high
    /// half of a 128-bit product, drawn again in the few cases that would favour some values.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no value below 0");
        let uneven = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= uneven {
                return (product >> 64) as u64;
            }
        }
    }

    /// Returns a uniform element of `items`, which must not be empty.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn split_mix_matches_the_reference() {
        let mut state = 1_234_567;
        let outputs: [u64; 5] = std::array::from_fn(|_| split_mix(&mut state));
        assert_eq!(
            outputs,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
    }

    #[test]
    fn xoshiro_matches_the_reference() {
        let mut prng = Prng { state: [1, 2, 3, 4] };
        let outputs: [u64; 7] = std::array::from_fn(|_| prng.next_u64());
        assert_eq!(
            outputs,
            [
                11_520,
                0,
                1_509_978_240,
                1_215_971_899_390_074_240,
                1_216_172_134_540_287_360,
                607_988_272_756_665_600,
                16_172_922_978_634_559_625,
            ]
        );
    }

    #[test]
    fn values_are_uniform() {
        let mut prng = Prng::new(Seed::new(1));
        let mut seen = [0_u32; 6];
        for _ in 0..60_000 {
            seen[prng.below(6) as usize] += 1;
        }
        // Five standard deviations of a binomial with n = 60,000 and p = 1/6 are 456.
        assert!(seen.iter().all(|&count| count.abs_diff(10_000) < 456), "{seen:?}");
    }

    proptest! {
        #[test]
        fn values_stay_below_the_bound(seed: u64, bound in 1..=u64::MAX) {
            let mut prng = Prng::new(Seed::new(seed));
            for _ in 0..20 {
                prop_assert!(prng.below(bound) < bound);
            }
        }
    }
}
