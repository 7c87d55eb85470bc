//! Errors of requests to a supervisor.

use std::fmt;
use std::sync::Arc;

use coact_core::Broken;

use super::plan::CommandRefusal;
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::registry::NameTaken;

/// A child that was [added](crate::supervise::Supervisor::start_child) did not start. It has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// Its start failed: creating its state panicked, or its [`started`](crate::Actor::started)
    /// did, or it stopped there; or it was stopped before it was up.
    Failed(ExitReason),
    /// The supervisor has ended, or is about to.
    Ended,
    /// Another actor has a [name](crate::supervise::Child::named) of the child.
    NameTaken(NameTaken),
    /// The child is [significant](crate::supervise::Child::significant), and permanent: it has no
    /// end that its supervisor could end with. Make it transient or temporary.
    PermanentSignificant,
    /// The child is [significant](crate::supervise::Child::significant), and the supervisor does
    /// not end with its children: set its
    /// [`Tree::auto_shutdown`](crate::supervise::Tree::auto_shutdown).
    NoAutoShutdown,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Failed(reason) => write!(f, "the child did not start: {reason}"),
            StartError::Ended => f.write_str("the supervisor has ended"),
            StartError::NameTaken(taken) => write!(f, "the child did not start: {taken}"),
            StartError::PermanentSignificant => f.write_str(
                "a permanent child cannot be significant, because it is always restarted: make it \
                 transient or temporary",
            ),
            StartError::NoAutoShutdown => f.write_str(
                "the child is significant, but its supervisor does not end with its children: set \
                 `Tree::auto_shutdown`, before children are added",
            ),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::Failed(reason) => Some(reason),
            StartError::NameTaken(taken) => Some(taken),
            _ => None,
        }
    }
}

/// A supervisor, and all below it, will not be [up](crate::supervise::Supervisor::ready).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadyError {
    /// A child that is not restarted did not start.
    #[non_exhaustive]
    Failed {
        /// The child: one of the supervisor, or of one below it.
        child: ActorId,
        /// Its name.
        name: Option<Arc<str>>,
        /// Why it did not start.
        reason: ExitReason,
    },
    /// The supervisor has ended: because its children failed too often, for instance.
    Ended(ExitReason),
}

impl fmt::Display for ReadyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadyError::Failed { child, name: Some(name), reason } => {
                write!(f, "the child `{name}` ({child}) did not start: {reason}")
            }
            ReadyError::Failed { child, name: None, reason } => {
                write!(f, "the child {child} did not start: {reason}")
            }
            ReadyError::Ended(reason) => write!(f, "the supervisor has ended: {reason}"),
        }
    }
}

impl std::error::Error for ReadyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReadyError::Failed { reason, .. } | ReadyError::Ended(reason) => Some(reason),
        }
    }
}

/// The supervisor is gone, with the runtime.
impl From<Broken> for ReadyError {
    fn from(why: Broken) -> Self {
        ReadyError::Ended(ExitReason::Failed(why.to_string().into()))
    }
}

/// A child could not be restarted, terminated or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChildError {
    /// The supervisor has no such child, or no longer has it.
    Unknown,
    /// It was not terminated, so it cannot be restarted.
    Running,
    /// It did not start. It stays down.
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

impl std::error::Error for ChildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ChildError::Failed(reason) => Some(reason),
            _ => None,
        }
    }
}

impl From<CommandRefusal> for ChildError {
    fn from(why: CommandRefusal) -> Self {
        match why {
            CommandRefusal::Unknown => ChildError::Unknown,
            CommandRefusal::Running => ChildError::Running,
            CommandRefusal::Stopping => ChildError::Ended,
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
