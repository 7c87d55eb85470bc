//! Why a supervisor cannot do as it was asked.

use std::fmt;

use coact_core::Broken;

use super::plan::Refused;
use crate::exit::ExitReason;
use crate::registry::NameTaken;

/// A child that [was to be added](crate::supervise::Supervisor::start_child) did not come up. It has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// Its start failed: making its state panicked, or its [`started`](crate::Actor::started)
    /// did, or it stopped there; or it was stopped before it was up.
    Failed(ExitReason),
    /// The supervisor has ended, or is about to.
    Ended,
    /// Another actor has a name that the child was to [have](crate::supervise::Child::named).
    NameTaken(NameTaken),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Failed(reason) => write!(f, "the child did not start: {reason}"),
            StartError::Ended => f.write_str("the supervisor has ended"),
            StartError::NameTaken(taken) => write!(f, "the child did not start: {taken}"),
        }
    }
}

impl std::error::Error for StartError {}

/// A child could not be brought up, down or away.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChildError {
    /// The supervisor has no such child (any more).
    Unknown,
    /// It was not terminated, so it cannot be restarted.
    Running,
    /// It did not come up. It stays down.
    Failed(ExitReason),
    /// The supervisor has ended, or is about to.
    Ended,
}

impl fmt::Display for ChildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChildError::Unknown => f.write_str("the supervisor has no such child"),
            ChildError::Running => f.write_str("the child was not terminated"),
            ChildError::Failed(reason) => write!(f, "the child did not start: {reason}"),
            ChildError::Ended => f.write_str("the supervisor has ended"),
        }
    }
}

impl std::error::Error for ChildError {}

impl From<Refused> for ChildError {
    fn from(why: Refused) -> Self {
        match why {
            Refused::Unknown => ChildError::Unknown,
            Refused::Running => ChildError::Running,
            Refused::Stopping => ChildError::Ended,
        }
    }
}

impl From<ChildError> for StartError {
    fn from(why: ChildError) -> Self {
        match why {
            ChildError::Failed(reason) => StartError::Failed(reason),
            _ => StartError::Ended,
        }
    }
}

impl From<NameTaken> for StartError {
    fn from(taken: NameTaken) -> Self {
        StartError::NameTaken(taken)
    }
}

/// The supervisor has dropped the request unanswered, so it is gone.
impl From<Broken> for StartError {
    fn from(_: Broken) -> Self {
        StartError::Ended
    }
}

/// The supervisor has dropped the request unanswered, so it is gone.
impl From<Broken> for ChildError {
    fn from(_: Broken) -> Self {
        ChildError::Ended
    }
}
