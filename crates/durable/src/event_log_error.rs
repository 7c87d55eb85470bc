//! What is wrong with a log.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use coact_persist::{EntityId, FormatError, Position, Seq, StoreError};

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
    /// The log was to go on behind a commit that the store does not have: a backup was restored, or
    /// it is the position in another store. What was made of the events up to there is to be made
    /// anew.
    Ahead {
        /// Behind which it was to go on.
        after: Position,
        /// The last one that there is.
        last: Position,
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
            Self::Ahead { after, last } => write!(
                f,
                "the log was to go on behind commit {after}, and the last one is {last}: a backup was restored, or it is the \
                 position in another store. Make what was made of it anew, from the first event on"
            ),
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
            Self::Ahead { .. } | Self::CaughtUp | Self::Ended => None,
        }
    }
}
