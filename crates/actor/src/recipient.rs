//! Addresses for one kind of message.

mod takes;
mod weak;

use std::fmt;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use coact_core::runtime::RuntimeHandle;

pub(crate) use takes::MessageReceiver;
pub use weak::WeakRecipient;

use crate::ask::Ask;
use crate::backpressure::{self, PermitFuture, RoomProvider};
use crate::block_on::block_on_room;
use crate::handler::MessageTo;
use crate::id::ActorId;
use crate::in_flight::InFlightToken;
use crate::message::Message;
use crate::monitor_guard::MonitorGuard;
use crate::parts::{Actor, Addr};
use crate::reply::Reply;
use crate::send_error::{AskError, SendError};

/// The address of any actor that takes `M`, or of a [plain thread](crate::this_thread): for code
/// that does not depend on the type of the receiver.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// # use coact::{Actor, Context, Handler, Message, spawn};
/// # struct Metre; struct Inch;
/// # impl Actor for Metre {}
/// # impl Actor for Inch {}
/// # struct Length(f64);
/// # impl Message for Length { type Reply = String; }
/// # impl Handler<Length> for Metre {
/// #     fn handle(&mut self, Length(x): Length, _: &mut Context<Self>) -> String {
/// #         format!("{x} m")
/// #     }
/// # }
/// # impl Handler<Length> for Inch {
/// #     fn handle(&mut self, Length(x): Length, _: &mut Context<Self>) -> String {
/// #         format!("{:.0} in", x / 0.0254)
/// #     }
/// # }
/// use coact::actor::Recipient;
///
/// // Actors of two types in one list.
/// let all: [Recipient<Length>; 2] = [spawn(Metre).to_recipient(), spawn(Inch).to_recipient()];
/// let shown = all.map(|one| one.ask(Length(2.54)).wait());
/// assert_eq!(shown, [Ok("2.54 m".to_owned()), Ok("100 in".to_owned())]);
/// ```
pub struct Recipient<M: Message>(Arc<dyn MessageReceiver<M>>);

impl<M: Message> RoomProvider<M> for Recipient<M> {
    fn send_now(&self, message: M) -> Result<(), SendError<M>> {
        self.send(message)
    }

    fn ask_now(&self, message: M) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.ask_counted(message, None)
    }

    fn reserve(&self, message: &M) -> Option<PermitFuture<M>> {
        self.0.reserve(Some(message), true)
    }

    fn reserves_first(&self) -> bool {
        self.0.reserves_first()
    }
}

impl<M: Message> Recipient<M> {
    pub(crate) fn new<A: Actor>(address: Addr<A>) -> Self
    where
        M: MessageTo<A>,
    {
        Self(Arc::new(address))
    }

    /// Creates a recipient for something that takes messages without being an actor.
    pub(crate) fn of(taker: Arc<dyn MessageReceiver<M>>) -> Self {
        Self(taker)
    }

    /// Sends a message: see [`Addr::send`].
    ///
    /// # Errors
    /// See [`Addr::send`].
    pub fn send(&self, message: M) -> Result<(), SendError<M>> {
        self.0.send(message)
    }

    /// Sends a message whose answer goes to `reply`: see [`Addr::forward`].
    ///
    /// # Errors
    /// See [`Addr::forward`].
    pub fn forward(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>> {
        self.0.forward(message, reply)
    }

    /// Sends a message and returns its answer: see [`Addr::ask`].
    pub fn ask(&self, message: M) -> Ask<M::Reply> {
        self.0.ask(message)
    }

    /// Sends a message: see [`Addr::send_async`]. The future waits for room if a mailbox is full
    /// and its policy is to [wait](crate::mailbox::Mailbox::wait). A router waits for the first of
    /// its routees that has room.
    ///
    /// # Errors
    /// See [`Addr::send_async`].
    pub fn send_async(
        &self,
        message: M,
    ) -> impl Future<Output = Result<(), SendError<M>>> + Send + use<M> {
        backpressure::send(self.clone(), message)
    }

    /// Sends a message like [`send_async`](Self::send_async), and then waits for the answer: see
    /// [`Addr::ask_async`].
    ///
    /// # Errors
    /// Returns an [`AskError`] that says why there is no answer.
    pub fn ask_async(
        &self,
        message: M,
    ) -> impl Future<Output = Result<M::Reply, AskError>> + Send + use<M> {
        backpressure::ask(self.clone(), message)
    }

    /// Sends a message: see [`Addr::send_blocking`].
    ///
    /// # Errors
    /// See [`Addr::send_blocking`].
    ///
    /// # Panics
    /// Panics if it would have to wait in a behaviour, a handler or a future.
    #[track_caller]
    pub fn send_blocking(&self, message: M) -> Result<(), SendError<M>> {
        block_on_room(backpressure::SEND, self.send_async(message))
    }

    pub(crate) fn reserve(&self, alone: bool) -> Option<PermitFuture<M>> {
        self.0.reserve(None, alone)
    }

    pub(crate) fn send_counted(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> Result<(), SendError<M>> {
        self.0.send_counted(message, token)
    }

    pub(crate) fn ask_counted(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.0.ask_counted(message, token)
    }

    /// Calls a closure at its end, if the recipient can be watched: see [`Addr::watch`].
    pub(crate) fn watch(&self, tell: impl FnOnce() + Send + 'static) -> Option<MonitorGuard> {
        self.0.watch(Box::new(tell))
    }

    /// Returns the actor's identity.
    pub fn id(&self) -> ActorId {
        self.0.id()
    }

    /// Returns whether the actor has ended: see [`Addr::has_ended`].
    pub fn has_ended(&self) -> bool {
        self.0.has_ended()
    }

    pub(crate) fn home(&self) -> RuntimeHandle {
        self.0.home()
    }

    /// Returns the name of the receiver's type.
    pub(crate) fn receiver_type(&self) -> &'static str {
        self.0.receiver_type()
    }
}

impl<A: Actor, M: MessageTo<A>> From<&Addr<A>> for Recipient<M> {
    fn from(address: &Addr<A>) -> Self {
        Self::new(address.clone())
    }
}

impl<M: Message> From<&Recipient<M>> for Recipient<M> {
    fn from(recipient: &Recipient<M>) -> Self {
        recipient.clone()
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

impl<A: Actor> Addr<A> {
    /// Returns the address for one kind of message, independent of the type of the actor.
    pub fn to_recipient<M>(&self) -> Recipient<M>
    where
        M: MessageTo<A>,
    {
        Recipient::new(self.clone())
    }
}
