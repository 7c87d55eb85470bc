//! The context: what a handler receives besides its actor and the message.

mod asking;
pub mod extension;
mod futures;
mod idle_timeout;
mod links;
mod send_when_room;
mod stash;

use std::fmt;

use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::parts::{Actor, Addr, Context, WeakAddr};

pub use idle_timeout::ReceiveTimeout;

impl<A: Actor> Context<A> {
    /// Returns the actor's address.
    pub fn address(&self) -> Addr<A> {
        self.this.upgrade().expect("a running actor has an address, or received one for its end")
    }

    /// Returns the actor's address, without keeping it alive.
    pub fn weak(&self) -> WeakAddr<A> {
        self.this.clone()
    }

    /// Returns the actor's identity.
    pub fn id(&self) -> ActorId {
        self.this.id()
    }

    /// Stops the actor after the current message, with [`ExitReason::Normal`].
    pub fn stop(&mut self) {
        self.stop_with(ExitReason::Normal);
    }

    /// Stops the actor after the current message, for this reason.
    pub fn stop_with(&mut self, reason: ExitReason) {
        self.extras().stop.get_or_insert(reason);
        self.interrupt_self();
    }
}

impl<A: Actor> fmt::Debug for Context<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({:?})", self.this)
    }
}
