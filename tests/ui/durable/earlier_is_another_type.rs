//! The type of an earlier version has the same name, and a lower version.

use coact::durable::stored;

#[stored(name = "bank.deposit")]
struct Misnamed(#[n(0)] u64);

#[stored(name = "bank.deposited", version = 2, earlier = Misnamed)]
struct Deposited(#[n(0)] u64);

impl From<Misnamed> for Deposited {
    fn from(earlier: Misnamed) -> Self {
        Self(earlier.0)
    }
}

#[stored(name = "bank.withdrawn", version = 2)]
struct Later(#[n(0)] u64);

#[stored(name = "bank.withdrawn", version = 2, earlier = Later)]
struct Withdrawn(#[n(0)] u64);

impl From<Later> for Withdrawn {
    fn from(later: Later) -> Self {
        Self(later.0)
    }
}

fn main() {}
