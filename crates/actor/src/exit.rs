//! Why actors end.

use std::fmt;
use std::sync::Arc;

use crate::ActorId;

/// Why an actor ended, or is to end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitReason {
    /// It was done: it stopped itself, or nobody had its address any more.
    Normal,
    /// It was told to stop, by its supervisor, by [`Addr::stop`](crate::Addr::stop), or since its runtime was
    /// shut down.
    Shutdown,
    /// It was [killed](crate::Addr::kill), or its runtime was shut down and did not wait for it.
    Killed,
    /// A handler, a hook, or a behaviour that held the actor panicked; the panic's message.
    Panicked(Arc<str>),
    /// It gave up for a reason of its own: [`Context::stop_with`](crate::Context::stop_with).
    Failed(Arc<str>),
    /// An actor that it was linked to ended, and why.
    Linked(ActorId, Arc<ExitReason>),
    /// There was no such actor any more when it was to be linked to or monitored, and nobody knows why.
    NoActor,
    /// A supervisor gave up: its children failed more often than it allows. The last reason.
    TooManyRestarts(Arc<ExitReason>),
}

impl ExitReason {
    /// Whether the end was meant: such an end does not spread along links, and a transient child is
    /// not restarted after it.
    pub fn is_normal(&self) -> bool {
        matches!(self, ExitReason::Normal | ExitReason::Shutdown)
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExitReason::Normal => f.write_str("it was done"),
            ExitReason::Shutdown => f.write_str("it was told to stop"),
            ExitReason::Killed => f.write_str("it was killed"),
            ExitReason::Panicked(message) => write!(f, "it panicked: {message}"),
            ExitReason::Failed(why) => write!(f, "it failed: {why}"),
            ExitReason::Linked(id, reason) => {
                write!(f, "actor {id}, linked to it, ended: {reason}")
            }
            ExitReason::NoActor => f.write_str("there was no such actor"),
            ExitReason::TooManyRestarts(last) => {
                write!(f, "its children failed too often, the last one since {last}")
            }
        }
    }
}
