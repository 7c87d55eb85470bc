//! Errors of routing.

use std::fmt;
use std::sync::Arc;

use crate::cycle::AskCycle;
use crate::id::ActorId;
use crate::send_error::{AskError, SendError};

/// A message that no routee has taken; the error returns it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RouteError<M> {
    /// There is no routee, or all have ended.
    NoRoutee(M),
    /// The mailboxes of all routees that could have taken it are full.
    Full(M),
    /// There could never have been room: see [`SendError::Cycle`].
    Cycle(M, Arc<AskCycle>),
}

impl<M> RouteError<M> {
    /// Returns the message.
    pub fn into_message(self) -> M {
        match self {
            RouteError::NoRoutee(message)
            | RouteError::Full(message)
            | RouteError::Cycle(message, _) => message,
        }
    }

    pub(crate) fn from_send_error(error: SendError<M>) -> Self {
        match error {
            SendError::Stopped(message) => RouteError::NoRoutee(message),
            SendError::Full(message) => RouteError::Full(message),
            SendError::Cycle(message, circle) => RouteError::Cycle(message, circle),
        }
    }

    pub(crate) fn into_send_error(self) -> SendError<M> {
        match self {
            RouteError::NoRoutee(message) => SendError::Stopped(message),
            RouteError::Full(message) => SendError::Full(message),
            RouteError::Cycle(message, circle) => SendError::Cycle(message, circle),
        }
    }
}

impl<M> fmt::Display for RouteError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RouteError::NoRoutee(_) => "there is no actor to route to: the message is returned",
            RouteError::Full(_) => "the mailboxes are full: the message is returned",
            RouteError::Cycle(_, circle) => {
                return write!(f, "there would never have been room for the message: {circle}");
            }
        })
    }
}

impl<M> fmt::Debug for RouteError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            RouteError::NoRoutee(_) => "NoRoutee",
            RouteError::Full(_) => "Full",
            RouteError::Cycle(..) => "Cycle",
        };
        f.debug_tuple(name).field(&format_args!("{}", std::any::type_name::<M>())).finish()
    }
}

impl<M> std::error::Error for RouteError<M> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RouteError::Cycle(_, circle) => Some(&**circle),
            _ => None,
        }
    }
}

/// None of the asked actors has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoAnswer {
    /// The reasons, one per asked actor, in the order in which the asks failed.
    pub reasons: Vec<(ActorId, AskError)>,
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reasons.is_empty() {
            return f.write_str("there were no actors to ask");
        }
        f.write_str("no actor has answered")?;
        self.reasons.iter().try_for_each(|(actor, why)| write!(f, "; {actor}: {why}"))
    }
}

/// The source is the first reason.
impl std::error::Error for NoAnswer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.reasons.first().map(|(_, why)| why as _)
    }
}
