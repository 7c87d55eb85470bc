//! Why actors end.

use std::fmt;
use std::sync::Arc;

use crate::id::ActorId;

/// Why an actor ended, or will end.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, spawn};
/// use coact::actor::ExitReason;
///
/// struct Server(Result<u16, &'static str>);
/// impl Actor for Server {
///     fn started(&mut self, context: &mut Context<Self>) {
///         if let Err(why) = self.0 {
///             context.stop_with(ExitReason::Failed(why.into()));
///         }
///     }
/// }
///
/// let reason = spawn(Server(Err("no port is free"))).ended().wait()?;
/// assert!(!reason.is_normal());
/// assert_eq!(reason.to_string(), "it failed: no port is free");
/// # Ok::<(), coact::Broken>(())
/// ```
#[doc(alias = "ActorStopReason")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitReason {
    /// It was done: it stopped itself, or its last address was dropped.
    Normal,
    /// It was stopped by its supervisor, by [`Addr::stop`](crate::Addr::stop), or by the shutdown
    /// of its runtime.
    Shutdown,
    /// It was [killed](crate::Addr::kill), or its runtime was shut down and did not wait for it.
    Killed,
    /// A handler, a hook, or a behaviour that held the actor panicked. Contains the panic's
    /// message.
    Panicked(Arc<str>),
    /// It gave up for a reason of its own: see [`Context::stop_with`](crate::Context::stop_with).
    Failed(Arc<str>),
    /// An actor linked to it ended, for this reason. (In a long chain of links, some actors between
    /// the last ones and the first cause are left out.)
    Linked(ActorId, Arc<ExitReason>),
    /// The actor no longer existed when it was linked or monitored, and its exit reason is unknown.
    NoActor,
    /// A supervisor gave up: its children failed more often than it allows. Contains the last
    /// reason.
    TooManyRestarts(Arc<ExitReason>),
}

impl ExitReason {
    /// Returns whether the end was intended: such an end does not propagate along links, and does
    /// not restart a transient child.
    pub fn is_normal(&self) -> bool {
        matches!(self, ExitReason::Normal | ExitReason::Shutdown)
    }

    /// Converts the reason into the cause of another one. A reason that has propagated along many
    /// links, or up many supervisors, names the last actor and the first cause of part of the path:
    /// reasons are nested no deeper than [`MOST_NESTED`].
    pub(crate) fn into_cause(self) -> Arc<Self> {
        let (mut depth, mut first) = (0, &self);
        while let ExitReason::Linked(_, cause) | ExitReason::TooManyRestarts(cause) = first {
            (depth, first) = (depth + 1, &**cause);
        }
        if depth < MOST_NESTED {
            return Arc::new(self);
        }
        let first = Arc::new(first.clone());
        Arc::new(match self {
            ExitReason::Linked(id, _) => ExitReason::Linked(id, first),
            _ => ExitReason::TooManyRestarts(first),
        })
    }
}

/// The maximum depth of nested reasons.
const MOST_NESTED: usize = 16;

/// The source is the reason of another actor, if that is the cause.
impl std::error::Error for ExitReason {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ExitReason::Linked(_, cause) | ExitReason::TooManyRestarts(cause) => Some(&**cause),
            _ => None,
        }
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
                write!(f, "its children failed too often, the last one because {last}")
            }
        }
    }
}

/// The actor has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the actor has ended")
    }
}

impl std::error::Error for Stopped {}
