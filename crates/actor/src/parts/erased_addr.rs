//! Addresses without the type of their actor, for others and for the actor itself.

use std::any::type_name;

use coact_core::cown::CownId;
use coact_core::internals::BlockedSet;
use coact_core::runtime::RuntimeHandle;

use super::{Actor, Addr, WeakAddr};
use crate::any_addr::{AnyAddr, ErasedActor};
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::lifecycle::{AnyStrong, AnyWeak};
use crate::shared_state::SharedState;
use crate::signal::{LinkPeer, Signal};

impl<A: Actor> LinkPeer for WeakAddr<A> {
    fn id(&self) -> ActorId {
        WeakAddr::id(self)
    }

    fn signal(&self, signal: Signal) -> Result<(), Signal> {
        WeakAddr::signal(self, signal)
    }
}

impl<A: Actor> ErasedActor for WeakAddr<A> {
    fn type_name(&self) -> &'static str {
        type_name::<A>()
    }

    fn exit_reason(&self) -> Option<ExitReason> {
        self.shared().end().cloned()
    }

    fn has_ended(&self) -> bool {
        self.upgrade().is_none_or(|address| address.has_ended())
    }

    fn interrupt(&self) {
        WeakAddr::interrupt(self);
    }

    fn queue_id(&self) -> Option<CownId> {
        WeakAddr::queue_id(self)
    }

    fn has_multi_cown_waiters(&self) -> bool {
        self.shared().has_multi_cown_waiters()
    }

    fn blocked_set(&self, limit: usize) -> Option<BlockedSet> {
        WeakAddr::blocked_set(self, limit)
    }
}

impl<A: Actor> From<Addr<A>> for AnyAddr {
    fn from(address: Addr<A>) -> Self {
        Self::from(&address)
    }
}

impl<A: Actor> From<&Addr<A>> for AnyAddr {
    fn from(address: &Addr<A>) -> Self {
        Self::new(address.downgrade())
    }
}

impl<A: Actor> From<WeakAddr<A>> for AnyAddr {
    fn from(address: WeakAddr<A>) -> Self {
        Self::new(address)
    }
}

impl<A: Actor> From<&WeakAddr<A>> for AnyAddr {
    fn from(address: &WeakAddr<A>) -> Self {
        Self::new(address.clone())
    }
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

impl<A: Actor> AnyWeak for WeakAddr<A> {
    fn id(&self) -> ActorId {
        WeakAddr::id(self)
    }

    fn shared(&self) -> &SharedState {
        WeakAddr::shared(self)
    }

    fn to_any(&self) -> AnyAddr {
        WeakAddr::to_any(self)
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
