//! Asks of routees, in the form in which routers and pools return them.

use std::sync::Arc;

use super::error::RouteError;
use crate::ask::Ask;
use crate::cell::receive::drop_unhandled;
use crate::exit::ExitReason;
use crate::message::Message;
use crate::send_error::{AskError, SendError};

/// Converts an ask that was routed, or not, into the form of recipients.
pub(crate) fn answered<M: Message>(
    asked: Result<Ask<M::Reply>, RouteError<M>>,
) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
    match asked {
        Ok(ask) => (ask, Ok(())),
        Err(error) => (failed(&error), Err(error.into_send_error())),
    }
}

/// The same without the message, which is dropped.
pub(crate) fn answered_only<M: Message>(
    asked: Result<Ask<M::Reply>, RouteError<M>>,
) -> Ask<M::Reply> {
    let (ask, sent) = answered(asked);
    drop_unhandled(sent);
    ask
}

/// An ask that could not be routed.
fn failed<M: Message>(error: &RouteError<M>) -> Ask<M::Reply> {
    Ask::failed(match error {
        RouteError::NoRoutee(_) => AskError::Stopped(ExitReason::NoActor),
        RouteError::Full(_) => AskError::Full,
        RouteError::Cycle(_, circle) => AskError::Cycle(Arc::clone(circle)),
    })
}
