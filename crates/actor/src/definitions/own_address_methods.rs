//! An actor's address of itself.

use coact_core::runtime::RuntimeHandle;

use super::{Actor, Addr, WeakAddr};
use crate::any::AnyAddr;
use crate::id::ActorId;
use crate::lifecycle::{AnyStrong, AnyWeak};
use crate::shared_state::SharedState;

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
