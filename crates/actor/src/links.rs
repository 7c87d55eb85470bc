//! Links and monitors: how an actor's end reaches others.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_core::internals::catch;
use coact_core::promise::Resolver;

use crate::any::AnyAddr;
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::message::Message;
use crate::signal::{LinkChange, Signal};

/// Tells that an actor that was [monitored](crate::Context::monitor) has ended.
#[doc(alias = "Terminated")]
#[doc(alias = "DOWN")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Down {
    /// The monitor.
    pub monitor: MonitorId,
    /// The actor that has ended.
    pub actor: ActorId,
    /// Why it has ended.
    pub reason: ExitReason,
}

impl Message for Down {
    type Reply = ();
}

/// Tells an actor that [traps exits](crate::Context::trap_exits) that one that it is linked to has
/// ended.
#[doc(alias = "EXIT")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exited {
    /// The actor that has ended.
    pub actor: ActorId,
    /// Why it has ended.
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
        // ORDERING: Relaxed. Distinct, and rising for each thread.
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Debug for MonitorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MonitorId({})", self.0)
    }
}

/// A monitor of an actor, and how to notify its owner.
pub(crate) struct Monitor {
    pub(crate) id: MonitorId,
    pub(crate) owner: Box<dyn Notify>,
}

/// Notifies the owner of a monitor.
pub(crate) trait Notify: Send {
    fn notify(self: Box<Self>, down: Down);

    /// Whether the owner still listens.
    fn is_wanted(&self) -> bool {
        true
    }

    /// Whether it runs user code, which must not run at once on the thread that sets the monitor.
    fn is_the_users(&self) -> bool {
        true
    }
}

impl<F: FnOnce(Down) + Send> Notify for F {
    fn notify(self: Box<Self>, down: Down) {
        self(down);
    }
}

/// Keeps the promise of [`Addr::ended`](crate::Addr::ended).
impl Notify for Resolver<ExitReason> {
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

/// How many older monitors each new one checks: more than one, so that unwanted monitors go faster than
/// new ones come.
const LOOKS: usize = 4;

/// An actor's links and monitors; there may be very many of them.
#[derive(Default)]
pub(crate) struct Links {
    links: BTreeMap<ActorId, Link>,
    /// In the order of their making.
    monitors: BTreeMap<MonitorId, Monitor>,
    /// The monitor that was checked last, see [`forget_some`](Self::forget_some).
    looked_at: Option<MonitorId>,
    /// Delivers exits as messages, if the actor traps them.
    pub(crate) trap: Option<Box<dyn Fn(Exited) + Send>>,
}

/// A link; either side, or both, may have requested it.
struct Link {
    other: AnyAddr,
    by_us: bool,
    by_other: bool,
    /// Why the other one has ended while this actor was down.
    ended: Option<ExitReason>,
}

impl Links {
    /// Applies a change. A request of an earlier state than the `life`th is void.
    pub(crate) fn change(&mut self, us: ActorId, life: u32, change: LinkChange) {
        match change {
            LinkChange::Link { other, by: Some(asked) } if asked != life => release(us, &other),
            LinkChange::TrapExits { life: asked, .. } if asked != life => {}
            LinkChange::Link { other, by } => {
                let link = Link { other, by_us: false, by_other: false, ended: None };
                let link = self.links.entry(link.other.id()).or_insert(link);
                link.by_us |= by.is_some();
                link.by_other |= by.is_none();
            }
            LinkChange::Unlink(other) => _ = self.unlink(other),
            LinkChange::Release(other) => {
                let left = self.links.get_mut(&other).is_some_and(|link| {
                    link.by_other = false;
                    !link.by_us
                });
                if left {
                    self.links.remove(&other);
                }
            }
            LinkChange::Monitor(monitor) => {
                self.forget_some();
                self.monitors.insert(monitor.id, monitor);
            }
            LinkChange::Demonitor(id) => {
                let undone = self.demonitor(id);
                let _ = catch(move || drop(undone));
            }
            LinkChange::TrapExits { tell, .. } => self.trap = tell,
        }
    }

    /// The actor gets another state: links of the old state end, links that others have requested stay.
    pub(crate) fn end_life(&mut self, us: ActorId) {
        self.trap = None;
        self.links.retain(|_, link| {
            if std::mem::take(&mut link.by_us) {
                release(us, &link.other);
            }
            link.by_other
        });
    }

    /// The other actor has ended while this one has no state: the next state hears of it, unless only the last
    /// state had requested the link.
    pub(crate) fn exit_later(&mut self, other: ActorId, reason: ExitReason) {
        match self.links.get_mut(&other) {
            Some(link) if link.by_other => link.ended = Some(reason),
            _ => _ = self.unlink(other),
        }
    }

    /// The linked actors that ended while this one was down, and why.
    pub(crate) fn take_exits(&mut self) -> Vec<(ActorId, ExitReason)> {
        let ended = |(other, link): (&ActorId, &mut Link)| Some((*other, link.ended.take()?));
        self.links.iter_mut().filter_map(ended).collect()
    }

    /// Whether there are neither links nor monitors.
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty() && self.monitors.is_empty()
    }

    /// Returns whether there was a link.
    pub(crate) fn unlink(&mut self, other: ActorId) -> bool {
        self.links.remove(&other).is_some()
    }

    /// Drops some monitors that are no longer wanted.
    fn forget_some(&mut self) {
        for _ in 0..LOOKS {
            let after = self.looked_at.map_or(Bound::Unbounded, Bound::Excluded);
            let next = self.monitors.range((after, Bound::Unbounded)).next();
            // After the last one comes the first again.
            self.looked_at = next.map(|(id, _)| *id);
            if let Some((id, monitor)) = next
                && !monitor.owner.is_wanted()
            {
                let id = *id;
                let unwanted = self.monitors.remove(&id);
                let _ = catch(move || drop(unwanted));
            }
        }
    }

    /// Notifies linked actors and monitors of the actor's end.
    pub(crate) fn announce_end(self, actor: ActorId, reason: &ExitReason) {
        for link in self.links.into_values() {
            // An actor that is gone needs no signal.
            let _ = link.other.signal(Signal::Exit { from: actor, reason: reason.clone() });
        }
        for monitor in self.monitors.into_values() {
            let _ = catch(|| monitor.down(actor, reason));
        }
    }

    /// The monitor is given back: dropping it is the user's code.
    fn demonitor(&mut self, id: MonitorId) -> Option<Monitor> {
        self.monitors.remove(&id)
    }
}

/// Tells another actor that the state that had requested a link to it is gone.
fn release(us: ActorId, other: &AnyAddr) {
    // An actor that is gone needs no signal.
    let _ = other.signal(Signal::Links(LinkChange::Release(us)));
}
