//! Seeded randomness, so that every implementation does the same work, and work for a processor.

/// A well-mixed number from a counter (the finaliser of splitmix64): randomness without a state to pass on.
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

#[cfg(test)]
mod tests {
    use super::mix;

    #[test]
    fn every_bit_is_set_about_half_of_the_time() {
        for bit in 0..64 {
            let set = (0..1_000).filter(|&counter| mix(counter) >> bit & 1 == 1).count();
            assert!((400..600).contains(&set), "bit {bit} is set {set} times of 1,000");
        }
    }
}
