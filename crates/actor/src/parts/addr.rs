//! Addresses: the visible state of the actor, and signals to it.

use std::any::type_name;
use std::fmt;
use std::hash::{Hash, Hasher};

use coact_core::Cown;
use coact_core::cown::CownId;
use coact_core::internals::InterruptibleHandle;
use coact_core::runtime::RuntimeHandle;

use super::{Actor, ActorCell, Addr, WeakAddr};
use crate::any_addr::AnyAddr;
use crate::exit::{ExitReason, Stopped};
use crate::id::ActorId;
use crate::lifecycle::{refuse_all, refuse_late};
use crate::shared_state::SharedState;
use crate::signal::Signal;

impl<A: Actor> Addr<A> {
    #[inline]
    pub(crate) fn new(cown: Cown<ActorCell<A>>) -> Self {
        Self { cown: InterruptibleHandle::new(cown) }
    }

    #[inline]
    pub(crate) fn cown(&self) -> &Cown<ActorCell<A>> {
        &self.cown
    }

    /// Returns the cown, with a handle that is not checked when it is dropped.
    #[inline]
    pub(crate) fn into_cown(self) -> Cown<ActorCell<A>> {
        self.cown.into_cown()
    }

    /// Returns the actor's identity.
    pub fn id(&self) -> ActorId {
        self.shared().id()
    }

    /// Returns the part of the actor that is visible to all its addresses.
    #[inline]
    pub(crate) fn shared(&self) -> &SharedState {
        self.cown().shared_state()
    }

    /// Returns the queue in which its messages wait: its own, or that of its group.
    pub(crate) fn queue_id(&self) -> CownId {
        self.cown().queue_id()
    }

    /// Returns the runtime to which the actor belongs.
    pub fn runtime(&self) -> RuntimeHandle {
        self.cown().runtime()
    }

    /// Returns whether the actor has ended. Others may end it at any time; once it has ended, that
    /// stays so.
    pub fn has_ended(&self) -> bool {
        self.cown().is_closed()
    }

    /// Returns why the actor has ended, if it has.
    pub fn exit_reason(&self) -> Option<ExitReason> {
        self.shared().end().cloned()
    }

    /// Returns an address that does not keep the actor alive.
    pub fn downgrade(&self) -> WeakAddr<A> {
        WeakAddr::new(self.cown().downgrade())
    }

    /// Returns the address without the actor's type, for links and lists.
    pub fn to_any(&self) -> AnyAddr {
        AnyAddr::new(self.downgrade())
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<(), Stopped> {
        if self.has_ended() {
            return Err(Stopped);
        }
        self.push_signal(signal);
        Ok(())
    }

    /// Pushes a signal, which is answered even if the actor has ended.
    pub(crate) fn push_signal(&self, signal: Signal) {
        let shared = self.shared();
        if shared.push_signal(signal) {
            return self.cown().interrupt();
        }
        if self.runtime().is_cancelled() {
            // Nothing interrupts an actor whose pump is gone.
            refuse_all(shared);
        } else {
            refuse_late(self);
        }
    }

    /// Pushes a signal ahead of those that wait.
    pub(crate) fn push_signal_first(&self, signal: Signal) {
        self.shared().push_signal_first(signal);
        self.cown().interrupt();
    }
}

impl<A: Actor> Clone for Addr<A> {
    #[inline]
    fn clone(&self) -> Self {
        Self { cown: self.cown.clone() }
    }
}

impl<A: Actor> PartialEq for Addr<A> {
    fn eq(&self, other: &Self) -> bool {
        self.cown() == other.cown()
    }
}

impl<A: Actor> Eq for Addr<A> {}

impl<A: Actor> Hash for Addr<A> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.cown().hash(state);
    }
}

impl<A: Actor> fmt::Debug for Addr<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Addr<{}>({})", type_name::<A>(), self.id())
    }
}
