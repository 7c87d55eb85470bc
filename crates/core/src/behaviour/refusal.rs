//! The reasons why a behaviour was not spawned.

use std::fmt;

/// The set names a cown twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overlap {
    /// The position of the first occurrence, counting all cowns of the set from 0.
    pub first: usize,
    /// The position of the second.
    pub second: usize,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second } = self;
        write!(f, "members {first} and {second} of the set are the same cown: name each cown once")
    }
}

impl std::error::Error for Overlap {}

/// The set names cowns of different [pumps](crate::runtime::Pump): no thread may access all of
/// them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PinnedApart {
    /// The position of a cown of one pump, counting all cowns of the set from 0.
    pub first: usize,
    /// The position of a cown of another pump.
    pub second: usize,
}

impl fmt::Display for PinnedApart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second } = self;
        write!(
            f,
            "members {first} and {second} of the set belong to different pumps: no thread may access \
             both"
        )
    }
}

impl std::error::Error for PinnedApart {}

/// The reason why a behaviour was not spawned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The set names a cown twice.
    Overlap(Overlap),
    /// The set names cowns of different pumps.
    PinnedApart(PinnedApart),
    /// The set names more cowns than a behaviour can have: 4,294,967,295. Only a slice of
    /// zero-sized handles can be so long.
    TooMany {
        /// The number that it names.
        members: usize,
    },
    /// A member of the set accepts no more behaviours for now, like an actor whose
    /// bound (`Mailbox::behaviours`) is reached.
    Full {
        /// The index of the member in the set.
        position: usize,
    },
    /// The runtime of the cowns is shut down.
    Closed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Overlap(overlap) => overlap.fmt(f),
            Refusal::PinnedApart(apart) => apart.fmt(f),
            Refusal::TooMany { members } => {
                write!(f, "a behaviour can name up to {} cowns, not {members}", u32::MAX)
            }
            Refusal::Full { position } => write!(
                f,
                "member {position} of the set takes no more behaviours for now, since its mailbox is full \
                 (`try_when` returns that)"
            ),
            Refusal::Closed => f.write_str("the runtime of the cowns is shut down"),
        }
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Refusal::Overlap(overlap) => Some(overlap),
            Refusal::PinnedApart(apart) => Some(apart),
            _ => None,
        }
    }
}

/// A behaviour that was not spawned, with its closure.
pub struct WhenError<F> {
    /// The reason.
    pub refusal: Refusal,
    /// The closure passed to the call.
    pub closure: F,
}

impl<F> fmt::Debug for WhenError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WhenError").field("refusal", &self.refusal).finish_non_exhaustive()
    }
}

impl<F> fmt::Display for WhenError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl<F> std::error::Error for WhenError<F> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.refusal)
    }
}

/// Drops the closure, so that all closures share one error type.
impl<F> From<WhenError<F>> for Refusal {
    fn from(error: WhenError<F>) -> Self {
        error.refusal
    }
}
