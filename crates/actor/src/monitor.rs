//! Monitors: how interested parties learn that an actor has ended.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_core::promise::Resolver;

use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::message::Message;

/// Sent to an actor when an actor that it [monitors](crate::Context::monitor) has ended.
#[doc(alias = "Terminated")]
#[doc(alias = "DOWN")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Down {
    /// The monitor; for a [callback](crate::Addr::on_down), an identity of its own.
    pub monitor: MonitorId,
    /// The actor that ended.
    pub actor: ActorId,
    /// Why it ended.
    pub reason: ExitReason,
}

impl Message for Down {
    type Reply = ();
}

/// Sent to an actor that [traps exits](crate::Context::trap_exits) when an actor that it is linked
/// to has ended.
#[doc(alias = "EXIT")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exited {
    /// The actor that ended.
    pub actor: ActorId,
    /// Why it ended.
    pub reason: ExitReason,
}

impl Message for Exited {
    type Reply = ();
}

/// The identity of a monitor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonitorId(u64);

impl MonitorId {
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // ORDERING: Relaxed. The numbers are distinct, and increase for each thread.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Debug for MonitorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MonitorId({})", self.0)
    }
}

/// The identity of a callback that [`Addr::on_down`](crate::Addr::on_down) has set, for
/// [`Addr::cancel_on_down`](crate::Addr::cancel_on_down).
///
/// It is no [`MonitorId`]: the callback belongs to no actor, so none can
/// [`demonitor`](crate::Context::demonitor) it.
///
/// ```compile_fail,E0308
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Addr, Context};
///
/// fn undo<A: Actor, B: Actor>(context: &mut Context<A>, other: &Addr<B>) {
///     let callback = other.on_down(|down| println!("{}", down.reason));
///     context.demonitor(callback);
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OnDownId(pub(crate) MonitorId);

impl fmt::Debug for OnDownId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OnDownId({})", self.0.0)
    }
}

/// A monitor of an actor, and how to notify its owner.
pub(crate) struct Monitor {
    pub(crate) id: MonitorId,
    pub(crate) owner: Box<dyn MonitorOwner>,
}

/// Notifies the owner of a monitor.
pub(crate) trait MonitorOwner: Send {
    fn notify(self: Box<Self>, down: Down);

    /// Returns whether the owner still listens.
    fn is_wanted(&self) -> bool {
        true
    }

    /// Returns whether this runs user code, which must not run synchronously on the thread that
    /// sets the monitor.
    fn is_the_users(&self) -> bool {
        true
    }
}

impl<F: FnOnce(Down) + Send> MonitorOwner for F {
    fn notify(self: Box<Self>, down: Down) {
        self(down);
    }
}

/// Completes the promise of [`Addr::ended`](crate::Addr::ended).
impl MonitorOwner for Resolver<ExitReason> {
    fn notify(self: Box<Self>, down: Down) {
        self.resolve(down.reason);
    }

    fn is_wanted(&self) -> bool {
        !self.is_abandoned()
    }

    fn is_the_users(&self) -> bool {
        false
    }
}

impl Monitor {
    pub(crate) fn down(self, actor: ActorId, reason: &ExitReason) {
        self.owner.notify(Down { monitor: self.id, actor, reason: reason.clone() });
    }
}
