//! Addresses without the type of their actor.

use std::any::type_name;

use coact_core::cown::CownId;
use coact_core::internals::BlockedSet;

use super::{Actor, Addr, WeakAddr};
use crate::any::{AnyAddr, Erased};
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::signal::{Peer, Signal};

impl<A: Actor> Peer for WeakAddr<A> {
    fn id(&self) -> ActorId {
        WeakAddr::id(self)
    }

    fn signal(&self, signal: Signal) -> Result<(), Signal> {
        WeakAddr::signal(self, signal)
    }
}

impl<A: Actor> Erased for WeakAddr<A> {
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
