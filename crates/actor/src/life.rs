//! What ties actors' lives together: links, monitors, and how the ends of others are told.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_core::catch;

use crate::directive::{Directive, Tie};
use crate::{ActorId, AnyAddr, ExitReason, Message};

/// Tells that an actor that was [monitored](crate::Context::monitor) has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Down {
    /// Which monitor tells it.
    pub monitor: MonitorId,
    /// Who has ended.
    pub actor: ActorId,
    /// Why.
    pub reason: ExitReason,
}

impl Message for Down {
    type Reply = ();
}

/// Tells an actor that [traps exits](crate::Context::trap_exits) that one that it is linked to has
/// ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exited {
    /// Who has ended.
    pub actor: ActorId,
    /// Why.
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
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Debug for MonitorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MonitorId({})", self.0)
    }
}

/// Somebody who wants to be told of an actor's end.
pub(crate) struct Monitor {
    pub(crate) id: MonitorId,
    pub(crate) tell: Box<dyn FnOnce(Down) + Send>,
}

impl Monitor {
    pub(crate) fn down(self, actor: ActorId, reason: &ExitReason) {
        (self.tell)(Down { monitor: self.id, actor, reason: reason.clone() });
    }
}

/// An actor's ties to others.
#[derive(Default)]
pub(crate) struct Ties {
    pub(crate) links: Vec<AnyAddr>,
    pub(crate) monitors: Vec<Monitor>,
    /// Whom to tell of exits, instead of ending with them.
    pub(crate) trap: Option<Box<dyn Fn(Exited) + Send>>,
}

impl Ties {
    pub(crate) fn change(&mut self, tie: Tie) {
        match tie {
            Tie::Link(other) => self.link(other),
            Tie::Unlink(other) => _ = self.unlink(other),
            Tie::Monitor(monitor) => self.monitors.push(monitor),
            Tie::Demonitor(id) => {
                let undone = self.demonitor(id);
                let _ = catch(move || drop(undone));
            }
            Tie::TrapExits(trap) => self.trap = trap,
        }
    }

    fn link(&mut self, other: AnyAddr) {
        if !self.links.contains(&other) {
            self.links.push(other);
        }
    }

    /// Returns whether there was a link.
    pub(crate) fn unlink(&mut self, other: ActorId) -> bool {
        let before = self.links.len();
        self.links.retain(|link| link.id() != other);
        self.links.len() < before
    }

    /// Tells everybody that the actor has ended.
    pub(crate) fn announce_end(self, actor: ActorId, reason: &ExitReason) {
        for link in self.links {
            // Whoever is gone need not be told.
            let _ = link.direct(Directive::Exit { from: actor, reason: reason.clone() });
        }
        for monitor in self.monitors {
            let _ = catch(|| monitor.down(actor, reason));
        }
    }

    /// The monitor is given back: dropping it is the user's code.
    fn demonitor(&mut self, id: MonitorId) -> Option<Monitor> {
        let index = self.monitors.iter().position(|monitor| monitor.id == id)?;
        Some(self.monitors.remove(index))
    }
}
