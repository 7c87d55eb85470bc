//! Reproducible chance: a seed gives the same numbers on every machine and with every version of
//! any library.

/// Steele, Lea and Flood's SplitMix64.
pub struct Random {
    state: u64,
}

impl Random {
    /// The sequence that belongs to a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ self.state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// A number below `bound`. Low ones come up far more often: the lowest thousandth of them in a
    /// tenth of all draws.
    pub fn low_below(&mut self, bound: u64) -> u64 {
        // In integers: the last bit of a float's power depends on the platform.
        let cube = u128::from(self.below(1 << 20).pow(3));
        ((cube * u128::from(bound)) >> 60) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        let drawn = [random.bits(), random.bits(), random.bits()];
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(drawn, published);
    }

    #[test]
    fn ranges_keep_their_bounds() {
        let mut random = Random::new(1);
        let drawn: Vec<_> = (0..1000).map(|_| random.between(3, 5)).collect();
        assert!(drawn.iter().all(|n| (3..=5).contains(n)));
        assert!((3..=5).all(|n| drawn.contains(&n)));
    }

    #[test]
    fn low_numbers_are_as_frequent_as_they_should_be() {
        let mut random = Random::new(7);
        let mut counts = [0u32; 1_000];
        for _ in 0..100_000 {
            counts[random.low_below(1_000) as usize] += 1;
        }
        assert!((9_700..10_300).contains(&counts[0]), "{}", counts[0]);
        let lowest_eighth: u32 = counts[..125].iter().sum();
        assert!((49_200..50_800).contains(&lowest_eighth), "{lowest_eighth}");
        assert!(counts[999] > 0);
    }
}
