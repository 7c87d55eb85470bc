//! Addresses for one kind of message that do not keep their actor alive.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use super::Recipient;
use super::takes::{MessageReceiver, WeakReceiver};
use crate::id::ActorId;
use crate::message::Message;
use crate::send_error::SendError;

/// A [`Recipient`] that does not keep its actor alive.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// # use coact::{Actor, Context, Handler, Message, spawn};
/// use coact::actor::{Recipient, SendError};
///
/// struct Screen;
/// impl Actor for Screen {}
///
/// #[derive(Debug, PartialEq)]
/// struct Draw(&'static str);
/// impl Message for Draw { type Reply = (); }
/// impl Handler<Draw> for Screen {
///     fn handle(&mut self, _: Draw, _: &mut Context<Self>) {}
/// }
///
/// let screen = spawn(Screen);
/// let observer = Recipient::<Draw>::from(&screen).downgrade();
/// assert!(observer.upgrade().is_some());
/// let ended = screen.ended();
/// drop(screen);
/// ended.wait()?;
/// assert!(observer.upgrade().is_none());
/// assert_eq!(observer.send(Draw("a line")), Err(SendError::Stopped(Draw("a line"))));
/// # Ok::<(), coact::Broken>(())
/// ```
pub struct WeakRecipient<M: Message> {
    id: ActorId,
    of: WeakTarget<M>,
}

/// The receiver of a weak address.
enum WeakTarget<M: Message> {
    Actor(Arc<dyn WeakReceiver<M>>),
    /// A router, a pool or a plain thread: it exists as long as it has a `Recipient`.
    Other(Weak<dyn MessageReceiver<M>>),
}

impl<M: Message> Recipient<M> {
    /// Returns a recipient that does not keep the actor alive.
    pub fn downgrade(&self) -> WeakRecipient<M> {
        let of = match self.0.downgrade() {
            Some(actor) => WeakTarget::Actor(actor),
            None => WeakTarget::Other(Arc::downgrade(&self.0)),
        };
        WeakRecipient { id: self.id(), of }
    }
}

impl<M: Message> WeakRecipient<M> {
    /// Returns a strong address. `None` if the actor has no address any more, or if a router, pool
    /// or plain thread has no `Recipient`.
    pub fn upgrade(&self) -> Option<Recipient<M>> {
        match &self.of {
            WeakTarget::Actor(actor) => actor.upgrade().map(Recipient),
            WeakTarget::Other(other) => other.upgrade().map(Recipient),
        }
    }

    /// Sends a message: see [`Addr::send`](crate::Addr::send).
    ///
    /// # Errors
    /// See [`Addr::send`](crate::Addr::send). Without an address the actor counts as ended.
    pub fn send(&self, message: M) -> Result<(), SendError<M>> {
        match self.upgrade() {
            Some(recipient) => recipient.send(message),
            None => Err(SendError::Stopped(message)),
        }
    }

    /// Returns the actor's identity.
    pub fn id(&self) -> ActorId {
        self.id
    }
}

impl<M: Message> Clone for WeakRecipient<M> {
    fn clone(&self) -> Self {
        let of = match &self.of {
            WeakTarget::Actor(actor) => WeakTarget::Actor(Arc::clone(actor)),
            WeakTarget::Other(other) => WeakTarget::Other(Weak::clone(other)),
        };
        Self { id: self.id, of }
    }
}

/// Recipients are equal if they belong to the same actor.
impl<M: Message> PartialEq for WeakRecipient<M> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<M: Message> Eq for WeakRecipient<M> {}

impl<M: Message> Hash for WeakRecipient<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl<M: Message> fmt::Debug for WeakRecipient<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WeakRecipient<{}>({})", std::any::type_name::<M>(), self.id)
    }
}
