//! Which transfers there are: those of `coact-bench-durable`.

/// Two accounts and an amount, which look random.
pub fn choose(number: u64, accounts: u64) -> (i64, i64, i64) {
    let mixed = (number ^ 0x5DEE_CE66).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let from = (mixed >> 40) % accounts;
    let to = (from + 1 + (mixed >> 20) % (accounts - 1)) % accounts;
    (from.cast_signed(), to.cast_signed(), 1 + ((mixed >> 5) % 500).cast_signed())
}
