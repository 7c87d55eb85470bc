//! Links and monitors: how an actor's end reaches others.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use coact_core::internals::{catch, drop_quietly};

use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::monitor::{Exited, Monitor, MonitorId};
use crate::signal::{LinkChange, LinkPeer, Signal};

/// How many older monitors each new one checks: more than one, so that unwanted monitors are
/// removed faster than new ones are added.
const LOOKS: usize = 4;

/// An actor's links and monitors, possibly very many.
#[derive(Default)]
pub(crate) struct Links {
    links: BTreeMap<ActorId, Link>,
    /// In the order of creation.
    monitors: BTreeMap<MonitorId, Monitor>,
    /// The monitor that was checked last, see [`forget_some`](Self::forget_some).
    looked_at: Option<MonitorId>,
    /// Delivers exits as messages, if the actor traps them.
    pub(crate) trap: Option<Box<dyn Fn(Exited) + Send>>,
}

/// A link; either side, or both, may have requested it.
struct Link {
    other: Arc<dyn LinkPeer>,
    by_us: bool,
    by_other: bool,
    /// Why the other actor ended while this one was down.
    ended: Option<ExitReason>,
}

impl Links {
    /// Applies a change. A request by an earlier incarnation is void.
    pub(crate) fn change(&mut self, us: ActorId, incarnation: u32, change: LinkChange) {
        match change {
            LinkChange::Link { other, by: Some(asked) } if asked != incarnation => {
                release(us, &*other)
            }
            LinkChange::TrapExits { incarnation: asked, .. } if asked != incarnation => {}
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
                drop_quietly(move || drop(undone));
            }
            LinkChange::TrapExits { tell, .. } => self.trap = tell,
        }
    }

    /// Ends the links of an incarnation that is about to be replaced; links that others have
    /// requested stay.
    pub(crate) fn end_incarnation(&mut self, us: ActorId) {
        self.trap = None;
        self.links.retain(|_, link| {
            if std::mem::take(&mut link.by_us) {
                release(us, &*link.other);
            }
            link.by_other
        });
    }

    /// Records that the other actor has ended while this one has no state: the next state is
    /// notified, unless only the last state had requested the link.
    pub(crate) fn exit_later(&mut self, other: ActorId, reason: ExitReason) {
        match self.links.get_mut(&other) {
            Some(link) if link.by_other => link.ended = Some(reason),
            _ => _ = self.unlink(other),
        }
    }

    /// Returns the linked actors that ended while this one was down, and why.
    pub(crate) fn take_exits(&mut self) -> Vec<(ActorId, ExitReason)> {
        let ended = |(other, link): (&ActorId, &mut Link)| Some((*other, link.ended.take()?));
        self.links.iter_mut().filter_map(ended).collect()
    }

    /// Returns whether there are neither links nor monitors.
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
            // The first one follows the last one.
            self.looked_at = next.map(|(id, _)| *id);
            if let Some((id, monitor)) = next
                && !monitor.owner.is_wanted()
            {
                let id = *id;
                let unwanted = self.monitors.remove(&id);
                drop_quietly(move || drop(unwanted));
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

    /// Returns the monitor, because dropping it runs user code.
    fn demonitor(&mut self, id: MonitorId) -> Option<Monitor> {
        self.monitors.remove(&id)
    }
}

/// Tells another actor that the state that had requested a link to it is gone.
fn release(us: ActorId, other: &dyn LinkPeer) {
    // An actor that is gone needs no signal.
    let _ = other.signal(Signal::Links(LinkChange::Release(us)));
}
