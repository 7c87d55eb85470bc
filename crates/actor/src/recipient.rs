//! Addresses for one kind of message.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::router::InFlight;
use crate::{Actor, ActorId, Addr, Ask, Message, MessageTo, Reply, SendError};

/// The address of any actor that takes `M`, or of a [plain thread](crate::this_thread): for what
/// does not care who answers.
pub struct Recipient<M: Message>(Arc<dyn Takes<M>>);

/// Whoever takes a kind of message: an actor, a router, or a plain thread.
pub(crate) trait Takes<M: Message>: Send + Sync {
    fn send(&self, message: M) -> Result<(), SendError<M>>;
    /// Sends a message whose answer goes to whoever waits for that of another one.
    fn forward(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>> {
        if !reply.is_wanted() {
            return self.send(message);
        }
        let (ask, sent) = self.ask_counted(message, None);
        sent?;
        drop(ask.then((), move |(), answer| match answer {
            Ok(answer) => reply.send(answer),
            Err(why) => reply.fail(why),
        }));
        Ok(())
    }
    fn ask(&self, message: M) -> Ask<M::Reply>;
    /// As `send`, with a guest that comes along with the message.
    fn send_counted(&self, message: M, guest: Option<InFlight>) -> Result<(), SendError<M>>;
    /// As `ask`; gives the message back if it cannot be delivered.
    fn ask_counted(
        &self,
        message: M,
        guest: Option<InFlight>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>);
    fn id(&self) -> ActorId;
    fn has_ended(&self) -> bool;
}

impl<A: Actor, M: MessageTo<A>> Takes<M> for Addr<A> {
    fn send(&self, message: M) -> Result<(), SendError<M>> {
        Addr::send(self, message)
    }

    fn forward(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>> {
        Addr::forward(self, message, reply)
    }

    fn ask(&self, message: M) -> Ask<M::Reply> {
        Addr::ask(self, message)
    }

    fn send_counted(&self, message: M, guest: Option<InFlight>) -> Result<(), SendError<M>> {
        self.send_with_guest(message, Reply::unwanted(), guest)
    }

    fn ask_counted(
        &self,
        message: M,
        guest: Option<InFlight>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.ask_with_guest(message, guest)
    }

    fn id(&self) -> ActorId {
        Addr::id(self)
    }

    fn has_ended(&self) -> bool {
        Addr::has_ended(self)
    }
}

impl<M: Message> Recipient<M> {
    pub(crate) fn new<A: Actor>(address: Addr<A>) -> Self
    where
        M: MessageTo<A>,
    {
        Self(Arc::new(address))
    }

    /// Something that takes messages without being an actor.
    pub(crate) fn of(taker: Arc<dyn Takes<M>>) -> Self {
        Self(taker)
    }

    /// As [`Addr::send`].
    ///
    /// # Errors
    /// As there.
    pub fn send(&self, message: M) -> Result<(), SendError<M>> {
        self.0.send(message)
    }

    /// As [`Addr::forward`].
    ///
    /// # Errors
    /// As there.
    pub fn forward(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>> {
        self.0.forward(message, reply)
    }

    /// As [`Addr::ask`].
    pub fn ask(&self, message: M) -> Ask<M::Reply> {
        self.0.ask(message)
    }

    pub(crate) fn send_counted(
        &self,
        message: M,
        guest: Option<InFlight>,
    ) -> Result<(), SendError<M>> {
        self.0.send_counted(message, guest)
    }

    pub(crate) fn ask_counted(
        &self,
        message: M,
        guest: Option<InFlight>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.0.ask_counted(message, guest)
    }

    /// The actor's identity.
    pub fn id(&self) -> ActorId {
        self.0.id()
    }

    /// As [`Addr::has_ended`].
    pub fn has_ended(&self) -> bool {
        self.0.has_ended()
    }
}

impl<A: Actor, M: MessageTo<A>> From<Addr<A>> for Recipient<M> {
    fn from(address: Addr<A>) -> Self {
        Self::new(address)
    }
}

impl<M: Message> Clone for Recipient<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: Message> PartialEq for Recipient<M> {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl<M: Message> Eq for Recipient<M> {}

impl<M: Message> Hash for Recipient<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl<M: Message> fmt::Debug for Recipient<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient<{}>({})", std::any::type_name::<M>(), self.id())
    }
}
