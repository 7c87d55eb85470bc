//! What can go wrong with routing.

use std::fmt;
use std::sync::Arc;

use crate::cycle::AskCycle;
use crate::error::{AskError, SendError};
use crate::id::ActorId;

/// A message that no routee has taken; it is given back.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RouteError<M> {
    /// There is no routee, or all have ended.
    NoRoutee(M),
    /// The mailboxes of those that could have taken it are full.
    Full(M),
    /// There could never have been room: see [`SendError::Cycle`].
    Cycle(M, Arc<AskCycle>),
}

impl<M> RouteError<M> {
    /// The message.
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
            RouteError::NoRoutee(_) => "there is no actor to route to: the message is given back",
            RouteError::Full(_) => "the mailboxes are full: the message is given back",
            RouteError::Cycle(_, circle) => {
                return write!(
                    f,
                    "room for the message would have been waited for for ever: {circle}"
                );
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

impl<M> std::error::Error for RouteError<M> {}

/// Of all who were asked, nobody has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoAnswer {
    /// Why not, for each who was asked, in the order in which they failed.
    pub reasons: Vec<(ActorId, AskError)>,
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.reasons.is_empty() {
            return f.write_str("there was nobody to ask");
        }
        f.write_str("nobody has answered")?;
        self.reasons.iter().try_for_each(|(actor, why)| write!(f, "; {actor}: {why}"))
    }
}

impl std::error::Error for NoAnswer {}
