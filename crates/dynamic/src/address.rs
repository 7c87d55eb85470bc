//! Addresses: how actors that take tuples are reached.

use std::fmt::{self, Debug, Formatter};
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;
use std::time::Duration;

use coact_actor::actor::{Addr, AnyAddr, Ask, AskError, Reply, SendError, WeakAddr};
use coact_actor::internals::ActorCell;
use coact_core::Cown;
use coact_core::cown::AsCown;
use coact_core::credits::Permit;
use coact_core::internals::SealedHandle;
use coact_core::time::Timer;
use coact_tuple::{AnyTuple, Atom, Element, IntoTuple};

use crate::dyn_actor::{DynActor, DynAddr, DynMessage};

impl DynAddr {
    /// Sends a tuple without a sender. ([`DynContext::send`](crate::DynContext::send) sends one
    /// with it.)
    ///
    /// # Errors
    /// Returns the tuple if the actor has ended, or if its mailbox is bounded and refuses it: see
    /// [`Addr::send`].
    #[doc(alias = "anon_send")]
    #[inline]
    pub fn send(&self, tuple: impl IntoTuple) -> Result<(), SendError<AnyTuple>> {
        self.send_message(DynMessage::new(tuple))
    }

    /// The same with a tag, which says what the message is about beside what it contains:
    /// [`DynContext::tag`](crate::DynContext::tag).
    ///
    /// # Errors
    /// See [`send`](Self::send).
    pub fn send_tagged(&self, tag: Atom, tuple: impl IntoTuple) -> Result<(), SendError<AnyTuple>> {
        self.send_message(DynMessage::new(tuple).tagged(tag))
    }

    /// The same into a lane of the actor's mailbox: see [`Addr::send_in`].
    ///
    /// # Errors
    /// See [`send`](Self::send).
    pub fn send_in(&self, lane: usize, tuple: impl IntoTuple) -> Result<(), SendError<AnyTuple>> {
        self.send_message_in(lane, DynMessage::new(tuple))
    }

    pub(crate) fn send_message_in(
        &self,
        lane: usize,
        message: DynMessage,
    ) -> Result<(), SendError<AnyTuple>> {
        self.0.send_in(lane, message).map_err(unsent)
    }

    #[inline]
    pub(crate) fn send_message(&self, message: DynMessage) -> Result<(), SendError<AnyTuple>> {
        self.0.send(message).map_err(unsent)
    }

    pub(crate) fn forward_message(
        &self,
        message: DynMessage,
        reply: Reply<AnyTuple>,
    ) -> Result<(), SendError<AnyTuple>> {
        self.0.forward(message, reply).map_err(unsent)
    }

    /// Sends a tuple once there is room in the mailbox, if its policy is to
    /// [wait](coact_actor::mailbox::Mailbox::wait): see [`Addr::send_async`].
    ///
    /// # Errors
    /// See [`Addr::send_async`].
    pub fn send_async<T: IntoTuple>(
        &self,
        tuple: T,
    ) -> impl Future<Output = Result<(), SendError<AnyTuple>>> + Send + use<T> {
        let sent = self.0.send_async(DynMessage::new(tuple));
        async { sent.await.map_err(unsent) }
    }

    /// The same, and blocks the calling thread meanwhile: see [`Addr::send_blocking`].
    ///
    /// # Errors
    /// See [`Addr::send_blocking`].
    ///
    /// # Panics
    /// If it would have to wait in a behaviour, a handler or a future.
    #[track_caller]
    pub fn send_blocking(&self, tuple: impl IntoTuple) -> Result<(), SendError<AnyTuple>> {
        self.0.send_blocking(DynMessage::new(tuple)).map_err(unsent)
    }

    /// Sends a tuple after a delay: see [`Addr::send_later`].
    #[doc(alias = "delayed_send")]
    pub fn send_later(&self, delay: Duration, tuple: impl IntoTuple) -> Timer {
        self.0.send_later(delay, DynMessage::new(tuple))
    }

    /// Asks: sends a tuple, and returns what the actor [replies](crate::DynContext::reply). An
    /// actor that takes the tuple and does not reply fails the ask. (Actors of this kind ask with
    /// [`DynContext::request`](crate::DynContext::request).)
    #[doc(alias = "sync_send")]
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn ask(&self, tuple: impl IntoTuple) -> Ask<AnyTuple> {
        self.0.ask(DynMessage::new(tuple))
    }

    /// The same once there is room in the mailbox, if its policy is to wait: see
    /// [`Addr::ask_async`].
    ///
    /// # Errors
    /// Returns an [`AskError`] that says why there is no answer.
    pub fn ask_async<T: IntoTuple>(
        &self,
        tuple: T,
    ) -> impl Future<Output = Result<AnyTuple, AskError>> + Send + use<T> {
        self.0.ask_async(DynMessage::new(tuple))
    }
}

/// Returns the tuple of a message that was not sent.
fn unsent(error: SendError<DynMessage>) -> SendError<AnyTuple> {
    match error {
        SendError::Full(message) => SendError::Full(message.tuple),
        SendError::Cycle(message, circle) => SendError::Cycle(message.tuple, circle),
        stopped => SendError::Stopped(stopped.into_message().tuple),
    }
}

impl Deref for DynAddr {
    type Target = Addr<DynActor>;

    #[inline]
    fn deref(&self) -> &Addr<DynActor> {
        &self.0
    }
}

impl From<Addr<DynActor>> for DynAddr {
    fn from(address: Addr<DynActor>) -> Self {
        Self(address)
    }
}

impl From<&Addr<DynActor>> for DynAddr {
    fn from(address: &Addr<DynActor>) -> Self {
        Self(address.clone())
    }
}

impl From<&DynAddr> for DynAddr {
    fn from(address: &DynAddr) -> Self {
        address.clone()
    }
}

/// For monitors and links.
impl From<&DynAddr> for AnyAddr {
    fn from(address: &DynAddr) -> Self {
        address.0.to_any()
    }
}

/// For monitors and links.
impl<S> From<&StateAddr<S>> for AnyAddr {
    fn from(address: &StateAddr<S>) -> Self {
        address.address.0.to_any()
    }
}

impl<S> From<StateAddr<S>> for DynAddr {
    fn from(address: StateAddr<S>) -> Self {
        address.address
    }
}

impl<S> From<&StateAddr<S>> for DynAddr {
    fn from(address: &StateAddr<S>) -> Self {
        address.address.clone()
    }
}

impl Debug for DynAddr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "DynAddr({})", self.0.id())
    }
}

impl Element for DynAddr {}

/// The address of an actor that takes tuples and has a state of type `S`, which behaviours can use.
///
/// It is a [`DynAddr`], and has all that one has.
///
/// ```
/// use coact::{call, when};
/// use coact::dynamic::{DynContext, StateAddr, atom, cases, spawn_dyn_with};
///
/// struct Account { balance: i64 }
///
/// fn account(balance: i64) -> StateAddr<Account> {
///     spawn_dyn_with(Account { balance }, |me: &mut DynContext<Account>| {
///         me.become_(cases! { |me: &mut DynContext<Account>|
///             (atom!("deposit"), amount: i64) => me.state_mut().balance += amount,
///         });
///     })
/// }
///
/// let (a, b) = (account(0), account(0));
/// a.send((atom!("deposit"), 100_i64))?;
/// when((&a, &b), |(a, b)| {
///     a.balance -= 30;
///     b.balance += 30;
/// });
/// assert_eq!(call((&a, &b), |(a, b)| (a.balance, b.balance)).wait(), Ok((70, 30)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StateAddr<S> {
    address: DynAddr,
    of: PhantomData<fn(S) -> S>,
}

impl<S: 'static> StateAddr<S> {
    /// The address of an actor that was created with such a state.
    pub(crate) fn new(address: Addr<DynActor>) -> Self {
        Self { address: DynAddr(address), of: PhantomData }
    }

    /// Returns an address that does not keep the actor alive, and does not know its state.
    #[must_use]
    pub fn downgrade(&self) -> WeakAddr<DynActor> {
        self.address.0.downgrade()
    }
}

impl<S> Deref for StateAddr<S> {
    type Target = DynAddr;

    #[inline]
    fn deref(&self) -> &DynAddr {
        &self.address
    }
}

impl<S: Send + 'static> SealedHandle for StateAddr<S> {}

/// If a behaviour over the addresses of the actors themselves has exchanged actors of different
/// states, a behaviour over this one panics.
impl<S: Send + 'static> AsCown for StateAddr<S> {
    type State = ActorCell<DynActor>;
    type View = S;

    #[inline]
    fn as_cown(&self) -> &Cown<ActorCell<DynActor>> {
        self.address.0.as_cown()
    }

    #[inline]
    fn view(state: &ActorCell<DynActor>) -> &S {
        Addr::view(state).state().unwrap_or_else(|| exchanged())
    }

    #[inline]
    fn view_mut(state: &mut ActorCell<DynActor>) -> &mut S {
        Addr::view_mut(state).state_mut().unwrap_or_else(|| exchanged())
    }

    #[inline]
    fn announce(&self) -> bool {
        self.address.0.announce()
    }

    #[inline]
    fn announced(&self) {
        self.address.0.announced();
    }

    fn admit(&self) -> Option<Option<Permit>> {
        self.address.0.admit()
    }
}

#[cold]
fn exchanged() -> ! {
    panic!("a behaviour has exchanged this actor for one with a state of another type");
}

impl<S> Clone for StateAddr<S> {
    fn clone(&self) -> Self {
        Self { address: self.address.clone(), of: PhantomData }
    }
}

impl<S> PartialEq for StateAddr<S> {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl<S> Eq for StateAddr<S> {}

impl<S> Hash for StateAddr<S> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address.hash(state);
    }
}

impl<S> Debug for StateAddr<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "StateAddr<{}>({})", std::any::type_name::<S>(), self.address.0.id())
    }
}

impl<S: 'static> Element for StateAddr<S> {}
