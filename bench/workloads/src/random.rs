//! Seeded randomness, so that every implementation does the same work, and work for a processor;
//! the same in every language.

use std::time::{Duration, Instant};

/// A well-mixed number from a counter (the finaliser of splitmix64): randomness without a state to
/// pass on.
pub fn mix(counter: u64) -> u64 {
    let mut word = counter.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// Work that touches no memory: this many dependent steps of an xorshift generator.
pub fn spin(steps: u64) -> u64 {
    let mut word = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..steps {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
    }
    std::hint::black_box(word)
}

/// Keeps the processor busy until the clock is so much further.
pub fn busy(time: Duration) {
    if time.is_zero() {
        return;
    }
    let end = Instant::now() + time;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// A linear congruential generator of 16 bits, so that every language can have it.
#[derive(Clone)]
pub struct R16(u32);

impl R16 {
    /// Begins with a seed.
    pub fn new(seed: u32) -> R16 {
        R16(seed)
    }

    /// The next number, below 65,536.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1309).wrapping_add(13849) & 0xFFFF;
        self.0
    }

    /// The next number modulo `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.next() % bound
    }
}

/// A linear congruential generator of 60 bits.
#[derive(Clone)]
pub struct R64(u64);

impl R64 {
    /// Begins with a seed.
    pub fn new(seed: u64) -> R64 {
        R64(seed)
    }
}

impl Iterator for R64 {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(self.0 >> 4)
    }
}

#[cfg(test)]
mod tests {
    use super::{R16, R64, mix};

    #[test]
    fn every_bit_is_set_about_half_of_the_time() {
        for bit in 0..64 {
            let set = (0..1_000).filter(|&counter| mix(counter) >> bit & 1 == 1).count();
            assert!((400..600).contains(&set), "bit {bit} is set {set} times of 1,000");
        }
    }

    #[test]
    fn the_first_numbers_are_those_of_every_language() {
        let mut small = R16::new(74755);
        // By hand: (74755·1309 + 13849) mod 65536, and so on.
        assert_eq!([small.next(), small.next()], [22896, 34761]);
        assert_eq!(R64::new(0).next(), Some(1_442_695_040_888_963_407 >> 4));
    }
}
