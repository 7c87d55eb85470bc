//! How a run that should repeat an earlier one differs from it.

use std::error::Error;
use std::fmt;

use crate::{Choice, SchedulingOffer};

/// A run did not do what an earlier run with the same choices did.
///
/// Either the program depends on something the engine does not control (time, addresses, hash
/// order, threads of its own), or, in a replay, it was changed since the schedule was recorded.
/// Choices are counted from zero: `at` is the index in the run's [`Schedule`](crate::Schedule).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunDivergence {
    /// After the same choices, the program offered something else.
    Offer {
        /// Which choice of the run.
        at: u64,
        /// What the earlier run offered there.
        expected: SchedulingOffer,
        /// What this run offered.
        found: SchedulingOffer,
    },
    /// The recorded choice is not on offer.
    Unavailable {
        /// Which choice of the run.
        at: u64,
        /// What the schedule says.
        recorded: Choice,
        /// What this run offered.
        found: SchedulingOffer,
    },
    /// The run ended before it made all the choices that it should have repeated.
    EndedEarly {
        /// How many choices the run made.
        at: u64,
        /// The least number it should have made.
        expected: u64,
    },
}

impl fmt::Display for RunDivergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunDivergence::Offer { at, expected, found } => write!(
                f,
                "the run diverged at choice {at}: the earlier run of the same choices offered \
                 {expected}, this one offers {found}; the program is not deterministic"
            ),
            RunDivergence::Unavailable { at, recorded, found } => write!(
                f,
                "the run diverged at choice {at}: the schedule says {recorded}, the program offers \
                 {found}; it is not deterministic, or not the program that was recorded"
            ),
            RunDivergence::EndedEarly { at, expected } => write!(
                f,
                "the run diverged: it was over after {at} choices, the earlier run made at least \
                 {expected}; the program is not deterministic, or not the one that was recorded"
            ),
        }
    }
}

impl Error for RunDivergence {}
