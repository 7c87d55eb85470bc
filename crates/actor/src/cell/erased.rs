//! Addresses of actors whose type does not matter.

use coact_core::runtime::RuntimeHandle;

use crate::address::{Addr, WeakAddr};
use crate::any::AnyAddr;
use crate::id::ActorId;
use crate::shared_state::SharedState;
use crate::traits::Actor;

/// An address that keeps its actor alive.
pub(crate) trait AnyStrong {
    fn shared(&self) -> &SharedState;
    fn home(&self) -> RuntimeHandle;
    /// Runs `work` behind all that waits in the actor's queue, even if the actor has ended.
    fn defer(&self, work: Box<dyn FnOnce() + Send>);
}

impl<A: Actor> AnyStrong for Addr<A> {
    fn shared(&self) -> &SharedState {
        self.cown().shared_state()
    }

    fn home(&self) -> RuntimeHandle {
        Addr::runtime(self)
    }

    fn defer(&self, work: Box<dyn FnOnce() + Send>) {
        self.cown().defer(work);
    }
}

/// The address that an actor has of itself.
pub(super) trait AnyWeak {
    fn id(&self) -> ActorId;
    fn shared(&self) -> &SharedState;
    fn any(&self) -> AnyAddr;
    /// Returns whether there still is an address.
    fn interrupt(&self) -> bool;
    fn close(&self);
    fn upgrade(&self) -> Option<Box<dyn AnyStrong>>;
}

impl<A: Actor> AnyWeak for WeakAddr<A> {
    fn id(&self) -> ActorId {
        WeakAddr::id(self)
    }

    fn shared(&self) -> &SharedState {
        WeakAddr::shared(self)
    }

    fn any(&self) -> AnyAddr {
        WeakAddr::any(self)
    }

    fn interrupt(&self) -> bool {
        WeakAddr::interrupt(self)
    }

    fn close(&self) {
        WeakAddr::close(self);
    }

    fn upgrade(&self) -> Option<Box<dyn AnyStrong>> {
        WeakAddr::upgrade(self).map(|address| Box::new(address) as Box<dyn AnyStrong>)
    }
}
