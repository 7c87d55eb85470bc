//! The outcome of a commit, and what runs once it is known.

use std::error::Error;
use std::fmt;

use coact_core::behaviour::NotCommitted;
use coact_persist::{CommitRefusal, Position};

/// Runs once, with the outcome of a commit.
pub(crate) type PostCommit = Box<dyn FnOnce(&CommitOutcome) + Send>;

/// The outcome of a commit.
#[derive(Clone)]
#[cfg_attr(test, derive(PartialEq, Debug))]
pub(crate) enum CommitOutcome {
    /// Stored at this position; [`ZERO`](Position::ZERO) if there was nothing to store.
    Stored(Position),
    NotStored(NotCommitted),
    /// The runtime ended, or the journal was closed, before the outcome was known.
    Lost,
}

impl From<&Result<Position, CommitRefusal>> for CommitOutcome {
    fn from(answer: &Result<Position, CommitRefusal>) -> Self {
        match answer {
            Ok(position) => Self::Stored(*position),
            Err(refusal) => Self::NotStored(not_committed(refusal)),
        }
    }
}

/// Returns the error for a refused commit. An error of the store is told as itself, whatever the
/// store was asked.
pub(crate) fn not_committed(refusal: &CommitRefusal) -> NotCommitted {
    match refusal {
        CommitRefusal::Store(error) => NotCommitted::new(error.clone()),
        other => NotCommitted::new(other.clone()),
    }
}

/// The runtime ended before the outcome of a commit was known, or while a state was recovered.
#[derive(Debug)]
pub(crate) struct RuntimeEnded;

impl fmt::Display for RuntimeEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it was given up, as its runtime has ended")
    }
}

impl Error for RuntimeEnded {}
