//! What is counted.

use crate::instructions::cases::{Case, case};

/// Six workloads, small enough to be run step by step, and large enough for 64 cores.
#[rustfmt::skip]
pub const ALL: &[Case] = &[
    case("cown-pairs", "coact", (6_000, 30_000)),
    case("transfers", "coact", (1_000, 5_000)),
    case("cown-dining", "coact", (50_000, 300_000)),
    case("fork-join", "coact", (60_000, 240_000)),
    case("many-to-one-spawned", "coact", (400, 2_400)),
    case("tokio-front", "coact-call", (2_000, 10_000)),
];
