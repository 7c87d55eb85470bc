//! Errors of sends and asks.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use coact_core::behaviour::NotCommitted;

use crate::cycle::AskCycle;
use crate::exit::ExitReason;

/// A message that was not delivered; the error returns it.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// # use coact::{Actor, Context, Handler, Message, spawn};
/// # struct Clerk;
/// # impl Actor for Clerk {}
/// # struct Letter(&'static str);
/// # impl Message for Letter { type Reply = usize; }
/// # impl Handler<Letter> for Clerk {
/// #     fn handle(&mut self, letter: Letter, _: &mut Context<Self>) -> usize { letter.0.len() }
/// # }
/// use coact::actor::SendError;
///
/// let [clerk, deputy] = [spawn(Clerk), spawn(Clerk)];
/// clerk.stop()?;
/// clerk.ended().wait()?;
/// match clerk.send(Letter("hello")) {
///     Err(SendError::Stopped(letter)) => deputy.send(letter)?,
///     Err(other) => return Err(other.into()),
///     Ok(()) => unreachable!("it has ended"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError<M> {
    /// The actor has ended.
    Stopped(M),
    /// The actor's mailbox is full, and this call does not wait for room: `send` never does, also
    /// with the default policy, to [wait](crate::mailbox::Mailbox::wait);
    /// [`send_async`](crate::Addr::send_async) and [`send_blocking`](crate::Addr::send_blocking)
    /// wait with that policy, and fail with [`fail`](crate::mailbox::Mailbox::fail).
    Full(M),
    /// There could never have been room: the sender is held until there is, and the actor that
    /// would make room waits for the sender, perhaps by way of others.
    Cycle(M, Arc<AskCycle>),
}

impl<M> SendError<M> {
    /// Returns the message.
    pub fn into_message(self) -> M {
        match self {
            SendError::Stopped(message)
            | SendError::Full(message)
            | SendError::Cycle(message, _) => message,
        }
    }
}

impl<M> fmt::Display for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendError::Stopped(_) => {
                "the actor has ended, and `Addr::ended` says why: the message is returned"
            }
            SendError::Full(_) => "the actor's mailbox is full: the message is returned",
            SendError::Cycle(_, circle) => {
                return write!(f, "there would never have been room for the message: {circle}");
            }
        })
    }
}

impl<M> fmt::Debug for SendError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            SendError::Stopped(_) => "Stopped",
            SendError::Full(_) => "Full",
            SendError::Cycle(..) => "Cycle",
        };
        f.debug_tuple(name).field(&format_args!("{}", std::any::type_name::<M>())).finish()
    }
}

impl<M> std::error::Error for SendError<M> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SendError::Cycle(_, circle) => Some(&**circle),
            _ => None,
        }
    }
}

/// Why an ask has no answer.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// # use coact::{Actor, Context, Handler, Message, spawn};
/// # struct Clerk;
/// # impl Actor for Clerk {}
/// # struct Letter(&'static str);
/// # impl Message for Letter { type Reply = usize; }
/// # impl Handler<Letter> for Clerk {
/// #     fn handle(&mut self, letter: Letter, _: &mut Context<Self>) -> usize { letter.0.len() }
/// # }
/// use coact::actor::{AskError, ExitReason};
///
/// let clerk = spawn(Clerk);
/// clerk.kill()?;
/// match clerk.ask(Letter("hello")).wait() {
///     Ok(length) => panic!("a letter of {length}, after the end"),
///     Err(AskError::Stopped(reason)) => assert_eq!(reason, ExitReason::Killed),
///     Err(other) => return Err(other.into()),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AskError {
    /// The actor had ended before the ask, or ended before it took up the message, or while its
    /// state or a future that held it still had the [`Reply`](crate::actor::Reply).
    Stopped(ExitReason),
    /// The actor's mailbox was full. The message is dropped; a `send` returns it. With the policy
    /// to [wait](crate::mailbox::Mailbox::wait), [`ask_async`](crate::Addr::ask_async) waits for
    /// room.
    Full,
    /// A panic dropped the reply: the actor panicked while handling the message. Contains the
    /// panic's message, or `(no message)` if it had none or the handler caught the panic itself, in
    /// which case the ask fails within a second.
    Panicked(Arc<str>),
    /// The time limit has passed. An answer that still arrives is dropped and counted.
    Timeout(Duration),
    /// The [`Reply`](crate::actor::Reply) was dropped without an answer: by the actor, or with
    /// something that it had begun, such as a future beside it, when it ended or was restarted.
    NoReply,
    /// The answer could never have arrived: the actor that asked is held until it does, and the
    /// actor that should answer waits for the asker, perhaps by way of others.
    Cycle(Arc<AskCycle>),
    /// The actor's runtime was shut down, and the deadline passed before there was an answer. Or
    /// the actor is durable, and its journal was closed before it was known whether its decision is
    /// stored.
    Cancelled,
    /// The actor is durable, and nothing of what it has decided, or would have, is stored: it has
    /// not happened. Also where the actor has ended since it cannot have its entity: that cannot be
    /// recovered, or another process has it.
    NotCommitted(NotCommitted),
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskError::Stopped(reason) => write!(f, "the actor has ended: {reason}"),
            AskError::Full => f.write_str("the actor's mailbox is full"),
            AskError::Panicked(message) => {
                write!(f, "the actor panicked while it handled the message: {message}")
            }
            AskError::Timeout(after) => write!(f, "no answer within {after:?}"),
            AskError::NoReply => f.write_str("the `Reply` was dropped without an answer"),
            AskError::Cycle(cycle) => write!(f, "the ask would have waited forever: {cycle}"),
            AskError::Cancelled => f.write_str(
                "the runtime was shut down, or the journal closed, before there was an answer",
            ),
            AskError::NotCommitted(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for AskError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            AskError::Stopped(reason) => Some(reason),
            AskError::Cycle(circle) => Some(&**circle),
            AskError::NotCommitted(why) => why.source(),
            _ => None,
        }
    }
}
