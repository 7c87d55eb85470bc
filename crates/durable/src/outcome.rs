//! What comes of commits, and what is done then.

use std::error::Error;
use std::fmt;

use coact_core::behaviour::NotCommitted;
use coact_persist::{Position, Refusal};

/// What is done when it is known what has come of a commit.
pub(crate) type Then = Box<dyn FnOnce(&End) + Send>;

/// What has come of a commit.
#[derive(Clone)]
pub(crate) enum End {
    /// At this position; [`ZERO`](Position::ZERO) if there was nothing to be stored.
    Stored(Position),
    NotStored(NotCommitted),
    /// The runtime has ended before that was known.
    Lost,
}

impl From<Result<Position, Refusal>> for End {
    fn from(outcome: Result<Position, Refusal>) -> Self {
        match outcome {
            Ok(position) => Self::Stored(position),
            Err(why) => Self::NotStored(not_committed(why)),
        }
    }
}

/// What those are told whose commit was refused. (That the store cannot be reached is told in one way, whatever it was asked.)
pub(crate) fn not_committed(refusal: Refusal) -> NotCommitted {
    match refusal {
        Refusal::Store(error) => NotCommitted::new(error),
        other => NotCommitted::new(other),
    }
}

/// The runtime has ended before it was known what has become of a step, or while a state was recovered.
#[derive(Debug)]
pub(crate) struct Abandoned;

impl fmt::Display for Abandoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it was given up, as its runtime has ended")
    }
}

impl Error for Abandoned {}
