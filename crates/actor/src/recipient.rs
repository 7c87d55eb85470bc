//! Addresses for one kind of message.

use std::fmt;
use std::sync::Arc;

use crate::{Actor, ActorId, Addr, Ask, Message, MessageTo, Reply, SendError};

/// The address of any actor that takes `M`, or of a [plain thread](crate::this_thread): for what
/// does not care who answers.
pub struct Recipient<M: Message>(Arc<dyn Takes<M>>);

/// Whoever takes a kind of message: an actor, or a plain thread.
pub(crate) trait Takes<M: Message>: Send + Sync {
    fn send(&self, message: M) -> Result<(), SendError<M>>;
    fn forward(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>>;
    fn ask(&self, message: M) -> Ask<M::Reply>;
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

impl<M: Message> fmt::Debug for Recipient<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient<{}>({})", std::any::type_name::<M>(), self.id())
    }
}
