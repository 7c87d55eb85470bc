//! Addresses of actors of any type.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use coact_core::cown::CownId;
use coact_core::internals::BlockedSet;

use crate::exit::{ExitReason, Stopped};
use crate::id::ActorId;
use crate::signal::{LinkPeer, Signal};

/// The address of an actor of any type: for its lifecycle (links, monitors, signals), not for its
/// messages. It does not keep the actor alive.
#[derive(Clone)]
pub struct AnyAddr(Arc<dyn ErasedActor>);

/// The operations on an actor that do not depend on its type.
pub(crate) trait ErasedActor: LinkPeer {
    fn type_name(&self) -> &'static str;
    fn exit_reason(&self) -> Option<ExitReason>;
    fn has_ended(&self) -> bool;
    fn interrupt(&self);
    fn queue_id(&self) -> Option<CownId>;
    fn has_multi_cown_waiters(&self) -> bool;
    fn blocked_set(&self, limit: usize) -> Option<BlockedSet>;
}

impl AnyAddr {
    pub(crate) fn new(address: impl ErasedActor + 'static) -> Self {
        Self(Arc::new(address))
    }

    /// Returns the actor's identity.
    pub fn id(&self) -> ActorId {
        self.0.id()
    }

    /// Returns the name of the actor's type.
    pub fn type_name(&self) -> &'static str {
        self.0.type_name()
    }

    /// Returns why the actor ended: see [`Addr::exit_reason`](crate::Addr::exit_reason).
    pub fn exit_reason(&self) -> Option<ExitReason> {
        self.0.exit_reason()
    }

    /// Returns whether the actor has ended, or has no address any more: see
    /// [`Addr::has_ended`](crate::Addr::has_ended).
    pub fn has_ended(&self) -> bool {
        self.0.has_ended()
    }

    /// Stops the actor: see [`Addr::stop`](crate::Addr::stop).
    ///
    /// # Errors
    /// Fails if the actor has ended.
    pub fn stop(&self) -> Result<(), Stopped> {
        self.signal(Signal::Stop(ExitReason::Shutdown)).map_err(|_| Stopped)
    }

    /// Kills the actor: see [`Addr::kill`](crate::Addr::kill).
    ///
    /// # Errors
    /// Fails if the actor has ended.
    pub fn kill(&self) -> Result<(), Stopped> {
        self.signal(Signal::Kill(ExitReason::Killed)).map_err(|_| Stopped)
    }

    pub(crate) fn interrupt(&self) {
        self.0.interrupt();
    }

    /// Returns the queue in which its messages wait: its own, or that of its group.
    pub(crate) fn queue_id(&self) -> Option<CownId> {
        self.0.queue_id()
    }

    /// Returns whether other cowns may hold up what waits for the actor.
    pub(crate) fn has_multi_cown_waiters(&self) -> bool {
        self.0.has_multi_cown_waiters()
    }

    /// Returns what waits for an actor that is held, if it is.
    pub(crate) fn blocked_set(&self, limit: usize) -> Option<BlockedSet> {
        self.0.blocked_set(limit)
    }

    /// Returns the actor as the other end of a link.
    pub(crate) fn peer(&self) -> Arc<dyn LinkPeer> {
        self.0.clone()
    }

    /// Sends a signal; returns it if the actor is gone.
    pub(crate) fn signal(&self, signal: Signal) -> Result<(), Signal> {
        self.0.signal(signal)
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
