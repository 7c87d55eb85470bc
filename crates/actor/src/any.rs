//! Addresses of actors of any type.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use coact_core::cown::CownId;
use coact_core::internals::BlockedSet;

use crate::address::{Addr, WeakAddr};
use crate::error::Stopped;
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::signal::Signal;
use crate::traits::Actor;

/// The address of an actor of any type, for what concerns its life and not its messages: links,
/// monitors, signals. It does not keep the actor alive.
#[derive(Clone)]
pub struct AnyAddr(Arc<dyn Erased>);

/// What can be done with an actor without knowing its type.
trait Erased: Send + Sync {
    fn id(&self) -> ActorId;
    fn signal(&self, signal: Signal) -> Result<(), Signal>;
    fn type_name(&self) -> &'static str;
    fn exit_reason(&self) -> Option<ExitReason>;
    fn has_ended(&self) -> bool;
    fn interrupt(&self);
    fn queue_id(&self) -> Option<CownId>;
    fn has_multi_cown_waiters(&self) -> bool;
    fn blocked_set(&self, limit: usize) -> Option<BlockedSet>;
}

impl<A: Actor> Erased for WeakAddr<A> {
    fn id(&self) -> ActorId {
        WeakAddr::id(self)
    }

    fn signal(&self, signal: Signal) -> Result<(), Signal> {
        WeakAddr::signal(self, signal)
    }

    fn type_name(&self) -> &'static str {
        std::any::type_name::<A>()
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

impl AnyAddr {
    pub(crate) fn new<A: Actor>(address: WeakAddr<A>) -> Self {
        Self(Arc::new(address))
    }

    /// The actor's identity.
    pub fn id(&self) -> ActorId {
        self.0.id()
    }

    /// The name of the actor's type.
    pub fn type_name(&self) -> &'static str {
        self.0.type_name()
    }

    /// As [`Addr::exit_reason`](crate::Addr::exit_reason).
    pub fn exit_reason(&self) -> Option<ExitReason> {
        self.0.exit_reason()
    }

    /// Whether the actor has ended, or nobody has its address any more: see [`Addr::has_ended`](crate::Addr::has_ended).
    pub fn has_ended(&self) -> bool {
        self.0.has_ended()
    }

    /// As [`Addr::stop`](crate::Addr::stop).
    ///
    /// # Errors
    /// The actor has ended.
    pub fn stop(&self) -> Result<(), Stopped> {
        self.signal(Signal::Stop(ExitReason::Shutdown)).map_err(|_| Stopped)
    }

    /// As [`Addr::kill`](crate::Addr::kill).
    ///
    /// # Errors
    /// The actor has ended.
    pub fn kill(&self) -> Result<(), Stopped> {
        self.signal(Signal::Kill(ExitReason::Killed)).map_err(|_| Stopped)
    }

    pub(crate) fn interrupt(&self) {
        self.0.interrupt();
    }

    /// The queue that its messages stand in: its own, or that of its group.
    pub(crate) fn queue_id(&self) -> Option<CownId> {
        self.0.queue_id()
    }

    /// Whether other cowns may hold up what waits for the actor.
    pub(crate) fn has_multi_cown_waiters(&self) -> bool {
        self.0.has_multi_cown_waiters()
    }

    /// Looks at what waits for an actor that is held, if it is.
    pub(crate) fn blocked_set(&self, limit: usize) -> Option<BlockedSet> {
        self.0.blocked_set(limit)
    }

    /// Gives the signal back if the actor is gone.
    pub(crate) fn signal(&self, signal: Signal) -> Result<(), Signal> {
        self.0.signal(signal)
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

impl From<&AnyAddr> for AnyAddr {
    fn from(address: &AnyAddr) -> Self {
        address.clone()
    }
}

impl PartialEq for AnyAddr {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for AnyAddr {}

impl Hash for AnyAddr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl fmt::Debug for AnyAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.type_name(), self.id())
    }
}
