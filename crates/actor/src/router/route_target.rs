//! What can stand behind a router: an address, or a recipient.

use crate::ask::Ask;
use crate::backpressure::PermitFuture;
use crate::handler::MessageTo;
use crate::in_flight::InFlightToken;
use crate::message::Message;
use crate::parts::{Actor, Addr};
use crate::recipient::Recipient;
use crate::reply::Reply;
use crate::send_error::SendError;

/// An actor, or other receiver, behind a router.
pub(crate) trait RouteTarget: Clone {
    fn has_ended(&self) -> bool;
}

/// A routee that takes messages of a type.
pub(crate) trait MessageRouteTarget<M: Message>: RouteTarget {
    fn send(&self, message: M, token: Option<InFlightToken>) -> Result<(), SendError<M>>;

    /// Asks; returns the message if it cannot be delivered. The ask says why.
    fn ask(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>);

    /// Waits for room; `None` if there is none to wait for.
    fn reserve(&self, alone: bool) -> Option<PermitFuture<M>>;
}

impl<M: Message> RouteTarget for Recipient<M> {
    fn has_ended(&self) -> bool {
        Recipient::has_ended(self)
    }
}

impl<M: Message> MessageRouteTarget<M> for Recipient<M> {
    fn send(&self, message: M, token: Option<InFlightToken>) -> Result<(), SendError<M>> {
        self.send_counted(message, token)
    }

    fn ask(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.ask_counted(message, token)
    }

    fn reserve(&self, alone: bool) -> Option<PermitFuture<M>> {
        Recipient::reserve(self, alone)
    }
}

impl<A: Actor> RouteTarget for Addr<A> {
    fn has_ended(&self) -> bool {
        Addr::has_ended(self)
    }
}

impl<A: Actor, M: MessageTo<A>> MessageRouteTarget<M> for Addr<A> {
    fn send(&self, message: M, token: Option<InFlightToken>) -> Result<(), SendError<M>> {
        self.send_with_token(message, Reply::unwanted(), token)
    }

    fn ask(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.ask_with_token(message, token)
    }

    fn reserve(&self, alone: bool) -> Option<PermitFuture<M>> {
        Addr::reserve(self, alone)
    }
}
