//! Reproducible chance: a seed gives the same file on every machine and with every version of every
//! library, so the generator and the distribution are spelled out here.

/// Steele, Lea and Flood's SplitMix64.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The sequence that belongs to a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
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

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Zipf's distribution: rank `k`, counted from 1, has a weight of `1 / k^skew`.
#[derive(Debug)]
pub struct Zipf {
    /// The sums of the weights, in integers so that rounding cannot differ between machines.
    cumulative: Vec<u64>,
}

impl Zipf {
    /// The distribution over `ranks` ranks. A skew of 0 is uniform.
    pub fn new(ranks: u32, skew: f64) -> Self {
        const FIRST: f64 = (1u64 << 31) as f64;
        let mut sum = 0;
        let weight = |rank: u32| {
            // Not `powf`: its last bit depends on the platform.
            let weight = FIRST / libm::pow(f64::from(rank), skew);
            // Below 2^32 weights of at most 2^31 each: the sum fits into 63 bits.
            sum += (weight as u64).max(1);
            sum
        };
        Self { cumulative: (1..=ranks).map(weight).collect() }
    }

    /// Draws a rank, counted from 0.
    pub fn draw(&self, random: &mut Random) -> u32 {
        let total = self.cumulative.last().copied().unwrap_or(1);
        let target = random.below(total);
        self.cumulative.partition_point(|sum| *sum <= target) as u32
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
    fn low_ranks_are_as_frequent_as_their_weight() {
        let zipf = Zipf::new(100, 1.0);
        let mut random = Random::new(7);
        let mut counts = [0u32; 100];
        for _ in 0..100_000 {
            counts[zipf.draw(&mut random) as usize] += 1;
        }
        // The harmonic number of 100 is 5.187, so rank 1 has 19.3 % and rank 10 a tenth of that.
        assert!((18_800..19_800).contains(&counts[0]), "{}", counts[0]);
        assert!((1_750..2_100).contains(&counts[9]), "{}", counts[9]);
    }

    #[test]
    fn no_skew_is_uniform_and_extreme_skew_still_works() {
        let mut random = Random::new(7);
        let uniform = Zipf::new(4, 0.0);
        let ones = (0..10_000).filter(|_| uniform.draw(&mut random) == 3).count();
        assert!((2_300..2_700).contains(&ones), "{ones}");
        let extreme = Zipf::new(1000, 10.0);
        assert!((0..1000).all(|_| extreme.draw(&mut random) < 1000));
    }
}
