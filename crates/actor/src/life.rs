//! What ties actors' lives together: links, monitors, and how the ends of others are told.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_core::{Resolver, catch};

use crate::signal::{Signal, Tie};
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
        // ORDERING: Relaxed. Distinct, and rising for each thread.
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
    pub(crate) tell: Box<dyn Tell>,
}

/// How one is told.
pub(crate) trait Tell: Send {
    fn tell(self: Box<Self>, down: Down);

    /// Whether anybody would hear it.
    fn is_wanted(&self) -> bool {
        true
    }

    /// Whether it is the user's code, which whoever leaves it does not expect to run at once.
    fn is_the_users(&self) -> bool {
        true
    }
}

impl<F: FnOnce(Down) + Send> Tell for F {
    fn tell(self: Box<Self>, down: Down) {
        self(down);
    }
}

/// Keeps the promise of [`Addr::ended`](crate::Addr::ended).
impl Tell for Resolver<ExitReason> {
    fn tell(self: Box<Self>, down: Down) {
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
        self.tell.tell(Down { monitor: self.id, actor, reason: reason.clone() });
    }
}

/// How many of those that were there before are looked at with each that comes: more than one, so that
/// those that are not wanted any more go faster than others come.
const LOOKS: usize = 4;

/// An actor's ties to others; there may be very many of them.
#[derive(Default)]
pub(crate) struct Ties {
    links: BTreeMap<ActorId, Link>,
    /// In the order of their making.
    monitors: BTreeMap<MonitorId, Monitor>,
    /// The one of these that was looked at last, to see whether it is wanted.
    looked_at: Option<MonitorId>,
    /// Whom to tell of exits, instead of ending with them.
    pub(crate) trap: Option<Box<dyn Fn(Exited) + Send>>,
}

/// A link, which each of the two may have asked for.
struct Link {
    other: AnyAddr,
    by_us: bool,
    by_other: bool,
    /// Why the other one has ended while this actor was down.
    ended: Option<ExitReason>,
}

impl Ties {
    /// What the state has asked for which is the `life`th is done only while it is there.
    pub(crate) fn change(&mut self, us: ActorId, life: u32, tie: Tie) {
        match tie {
            Tie::Link { other, by: Some(asked) } if asked != life => release(us, &other),
            Tie::TrapExits { life: asked, .. } if asked != life => {}
            Tie::Link { other, by } => {
                let link = Link { other, by_us: false, by_other: false, ended: None };
                let link = self.links.entry(link.other.id()).or_insert(link);
                link.by_us |= by.is_some();
                link.by_other |= by.is_none();
            }
            Tie::Unlink(other) => _ = self.unlink(other),
            Tie::Release(other) => {
                let left = self.links.get_mut(&other).is_some_and(|link| {
                    link.by_other = false;
                    !link.by_us
                });
                if left {
                    self.links.remove(&other);
                }
            }
            Tie::Monitor(monitor) => {
                self.forget_some();
                self.monitors.insert(monitor.id, monitor);
            }
            Tie::Demonitor(id) => {
                let undone = self.demonitor(id);
                let _ = catch(move || drop(undone));
            }
            Tie::TrapExits { tell, .. } => self.trap = tell,
        }
    }

    /// The actor gets another state: what the one before has asked for ends. What others have asked for stays.
    pub(crate) fn end_life(&mut self, us: ActorId) {
        self.trap = None;
        self.links.retain(|_, link| {
            if std::mem::take(&mut link.by_us) {
                release(us, &link.other);
            }
            link.by_other
        });
    }

    /// The other one has ended, while this actor has no state that could hear of it: the next one does, unless the
    /// link was only the last one's.
    pub(crate) fn exit_later(&mut self, other: ActorId, reason: ExitReason) {
        match self.links.get_mut(&other) {
            Some(link) if link.by_other => link.ended = Some(reason),
            _ => _ = self.unlink(other),
        }
    }

    /// Who has ended while the actor was down, and why.
    pub(crate) fn take_exits(&mut self) -> Vec<(ActorId, ExitReason)> {
        let ended = |(other, link): (&ActorId, &mut Link)| Some((*other, link.ended.take()?));
        self.links.iter_mut().filter_map(ended).collect()
    }

    /// Whether there is nobody who would be told of the end.
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty() && self.monitors.is_empty()
    }

    /// Returns whether there was a link.
    pub(crate) fn unlink(&mut self, other: ActorId) -> bool {
        self.links.remove(&other).is_some()
    }

    /// Drops some monitors that nobody wants any more.
    fn forget_some(&mut self) {
        for _ in 0..LOOKS {
            let after = self.looked_at.map_or(Bound::Unbounded, Bound::Excluded);
            let next = self.monitors.range((after, Bound::Unbounded)).next();
            // After the last one comes the first again.
            self.looked_at = next.map(|(id, _)| *id);
            if let Some((id, monitor)) = next
                && !monitor.tell.is_wanted()
            {
                let id = *id;
                let unwanted = self.monitors.remove(&id);
                let _ = catch(move || drop(unwanted));
            }
        }
    }

    /// Tells everybody that the actor has ended.
    pub(crate) fn announce_end(self, actor: ActorId, reason: &ExitReason) {
        for link in self.links.into_values() {
            // Whoever is gone need not be told.
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

/// Tells another actor that the state of this one is gone which has asked for a link.
fn release(us: ActorId, other: &AnyAddr) {
    // Whoever is gone need not be told.
    let _ = other.signal(Signal::Tie(Tie::Release(us)));
}
