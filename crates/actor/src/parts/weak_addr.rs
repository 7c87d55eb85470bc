//! Addresses that do not keep their actor alive.

use std::any::type_name;
use std::fmt;
use std::hash::{Hash, Hasher};

use coact_core::WeakCown;
use coact_core::cown::CownId;
use coact_core::internals::{BlockedSet, UnreachableCown};

use super::{Actor, ActorCell, Addr, WeakAddr};
use crate::any_addr::AnyAddr;
use crate::id::ActorId;
use crate::shared_state::SharedState;
use crate::signal::Signal;

impl<A: Actor> WeakAddr<A> {
    pub(crate) fn new(cown: WeakCown<ActorCell<A>>) -> Self {
        Self(cown)
    }

    /// Returns a strong address, unless the last one is gone. The actor may be ending, or have
    /// ended: then what is sent to the address is a dead letter (see [`Addr::has_ended`]).
    pub fn upgrade(&self) -> Option<Addr<A>> {
        self.0.upgrade().map(Addr::new)
    }

    /// Returns the actor's identity.
    pub fn id(&self) -> ActorId {
        self.shared().id()
    }

    pub(crate) fn shared(&self) -> &SharedState {
        self.0.shared_state()
    }

    /// Returns the address without the actor's type.
    pub fn to_any(&self) -> AnyAddr {
        AnyAddr::new(self.clone())
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<(), Signal> {
        match self.upgrade() {
            Some(address) => {
                address.push_signal(signal);
                Ok(())
            }
            None => Err(signal),
        }
    }

    /// Interrupts the actor. Returns whether there is still an address.
    pub(crate) fn interrupt(&self) -> bool {
        let address = self.upgrade();
        if let Some(address) = &address {
            address.cown().interrupt();
        }
        address.is_some()
    }

    pub(crate) fn blocked_set(&self, limit: usize) -> Option<BlockedSet> {
        self.upgrade()?.cown().blocked_set(limit)
    }

    /// Returns the queue in which its messages wait; that of a group's member only while the actor
    /// is alive.
    pub(crate) fn queue_id(&self) -> Option<CownId> {
        self.0.queue_id()
    }

    /// Closes the cown: for the actor itself, at its end.
    pub(crate) fn close(&self) {
        self.0.close();
    }

    /// Closes the cown of an actor whose last address is gone, if this is the only weak one: then
    /// nothing sees the actor any more. Otherwise returns this address.
    pub(crate) fn try_end(self, cown: &UnreachableCown<'_, ActorCell<A>>) -> Result<(), Self> {
        cown.try_end(self.0).map_err(Self)
    }
}

impl<A: Actor> Clone for WeakAddr<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: Actor> PartialEq<Addr<A>> for WeakAddr<A> {
    #[inline]
    fn eq(&self, other: &Addr<A>) -> bool {
        self.0.id() == other.cown().id()
    }
}

/// Addresses are equal if they belong to the same actor.
impl<A: Actor> PartialEq for WeakAddr<A> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        // Both keep their blocks, so no other actor has this place.
        self.0.id() == other.0.id()
    }
}

impl<A: Actor> Eq for WeakAddr<A> {}

impl<A: Actor> Hash for WeakAddr<A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl<A: Actor> fmt::Debug for WeakAddr<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WeakAddr<{}>({})", type_name::<A>(), self.id())
    }
}
