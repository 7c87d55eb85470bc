//! What is wrong with a log.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use coact_persist::{EntityId, FormatError, Seq, StoreError};

/// What is wrong with a log.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LogError {
    /// An event cannot be read.
    Format {
        /// Of which entity.
        entity: EntityId,
        /// Its number.
        seq: Seq,
        /// Why.
        why: FormatError,
    },
    /// What the store says. (One that cannot be reached is waited for.)
    Store(StoreError),
    /// There are no more, and it [ends](crate::EventLog::until_now) then.
    CaughtUp,
    /// The runtime has ended.
    Ended,
}

impl Display for LogError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format { entity, seq, why } => write!(f, "event {seq} of `{entity}`: {why}"),
            Self::Store(error) => Display::fmt(error, f),
            Self::CaughtUp => f.write_str("there are no more events for now"),
            Self::Ended => f.write_str("the runtime has ended"),
        }
    }
}

impl Error for LogError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // (The text has what these say themselves.)
            Self::Format { why, .. } => why.source(),
            Self::Store(error) => error.source(),
            Self::CaughtUp | Self::Ended => None,
        }
    }
}
