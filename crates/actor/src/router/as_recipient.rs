//! A router as a recipient, which may be the routee of another one, and may have room later.

use super::Router;
use super::error::RouteError;
use super::nesting::RoutePass;
use super::routed_ask::answered;
use crate::ask::Ask;
use crate::backpressure::{
    self, ChangeWakers, PermitFuture, RoomCandidate, RoomCandidates, RoomProvider,
};
use crate::id::ActorId;
use crate::in_flight::InFlightToken;
use crate::message::Message;
use crate::recipient::{MessageReceiver, Recipient};
use crate::send_error::SendError;

impl<M: Message> RoomProvider<M> for Router<M> {
    fn send_now(&self, message: M) -> Result<(), SendError<M>> {
        MessageReceiver::send(self, message)
    }

    fn ask_now(&self, message: M) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.ask_counted(message, None)
    }

    fn reserve(&self, message: &M) -> Option<PermitFuture<M>> {
        MessageReceiver::reserve(self, Some(message), true)
    }

    fn reserves_first(&self) -> bool {
        false
    }
}

/// The routees for one message.
struct RouteeWaiters<M: Message> {
    router: Router<M>,
    key: Option<u64>,
}

impl<M: Message> RoomCandidates<M> for RouteeWaiters<M> {
    fn candidates(&self) -> Vec<(ActorId, RoomCandidate<M>)> {
        self.router.0.routees.candidates(self.key)
    }

    fn changes(&self) -> &ChangeWakers {
        self.router.0.routees.changes()
    }
}

impl<M: Message> MessageReceiver<M> for Router<M> {
    fn send(&self, message: M) -> Result<(), SendError<M>> {
        self.send_counted(message, None)
    }

    fn ask(&self, message: M) -> Ask<M::Reply> {
        self.ask_counted(message, None).0
    }

    fn send_counted(&self, message: M, token: Option<InFlightToken>) -> Result<(), SendError<M>> {
        let Some(passing) = RoutePass::enter(self.0.id) else {
            return Err(RouteError::NoRoutee(message).into_send_error());
        };
        let key = self.key_of(&message);
        let sent = passing.note(self.0.routees.send(message, key, token.as_ref()));
        sent.map_err(RouteError::into_send_error)
    }

    fn ask_counted(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        let Some(passing) = RoutePass::enter(self.0.id) else {
            return answered(Err(RouteError::NoRoutee(message)));
        };
        let key = self.key_of(&message);
        answered(passing.note(self.0.routees.ask(message, key, token.as_ref())))
    }

    fn reserve(&self, message: Option<&M>, alone: bool) -> Option<PermitFuture<M>> {
        let _passing = RoutePass::enter(self.0.id)?;
        // Waiting with another routee than that of the key would be wrong.
        let key = match (message, &self.0.key) {
            (Some(message), Some(_)) => self.key_of(message),
            (None, Some(_)) => return None,
            (_, None) => None,
        };
        backpressure::race(RouteeWaiters { router: self.clone(), key }, alone)
    }

    fn reserves_first(&self) -> bool {
        false
    }

    fn id(&self) -> ActorId {
        self.0.id
    }

    /// Routees may be added at any time.
    fn has_ended(&self) -> bool {
        false
    }
}

impl<M: Message> From<Router<M>> for Recipient<M> {
    fn from(router: Router<M>) -> Self {
        router.to_recipient()
    }
}
