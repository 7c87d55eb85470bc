//! Links and monitors of an actor.

use crate::any_addr::AnyAddr;
use crate::exit::ExitReason;
use crate::handler::{Receive, SendActor};
use crate::monitor::{Down, Exited, MonitorId};
use crate::parts::{Actor, Addr, Context};
use crate::signal::{LinkChange, Signal};

impl<A: Actor> Context<A> {
    /// Links this actor with another one: when either ends for a reason that is not
    /// [normal](ExitReason::is_normal), so does the other, unless it [traps](Self::trap_exits)
    /// exits. Linking with an actor that has ended counts as its end.
    ///
    /// The other actor is given by any address: `&Addr`, `&WeakAddr`, `&AnyAddr`, `&Supervisor`.
    /// The link ends with the state that has made it, also at a restart. A link that the other
    /// actor has made stays.
    pub fn link(&mut self, other: impl Into<AnyAddr>) {
        let (this, other) = (self.this.to_any(), other.into());
        if this == other {
            return;
        }
        // This side first: if the other actor has ended, its answer finds the link.
        let incarnation = self.incarnation();
        self.signal(Signal::Links(LinkChange::Link { other: other.peer(), by: Some(incarnation) }));
        if other.signal(Signal::Links(LinkChange::Link { other: this.peer(), by: None })).is_err() {
            let reason = other.exit_reason().unwrap_or(ExitReason::NoActor);
            self.signal(Signal::Exit { from: other.id(), reason });
        }
    }

    /// Undoes a [link](Self::link), on both sides, whichever has made it.
    pub fn unlink(&mut self, other: impl Into<AnyAddr>) {
        let other = other.into();
        self.signal(Signal::Links(LinkChange::Unlink(other.id())));
        // An actor that has ended has no links.
        let _ = other.signal(Signal::Links(LinkChange::Unlink(self.id())));
    }

    /// Delivers the ends of linked actors as [`Exited`] messages instead of ending with them, until
    /// [`untrap_exits`](Self::untrap_exits) or a restart.
    #[doc(alias = "process_flag")]
    pub fn trap_exits(&mut self)
    where
        A: Receive<Exited>,
    {
        let (this, incarnation) = (self.weak(), self.incarnation());
        let tell = move |exited| this.notify(incarnation, exited);
        self.signal(Signal::Links(LinkChange::TrapExits {
            tell: Some(Box::new(tell)),
            incarnation,
        }));
    }

    /// Undoes [`trap_exits`](Self::trap_exits): the ends of linked actors end this one again.
    pub fn untrap_exits(&mut self) {
        let incarnation = self.incarnation();
        self.signal(Signal::Links(LinkChange::TrapExits { tell: None, incarnation }));
    }

    /// Sends this actor a [`Down`] when another one ends, or at once if it has ended. The other
    /// actor is given as in [`link`](Self::link). The monitor ends with this actor, at its restart,
    /// or by [`demonitor`](Self::demonitor).
    #[doc(alias = "watch")]
    pub fn monitor(&mut self, other: impl Into<AnyAddr>) -> MonitorId
    where
        A: Receive<Down>,
    {
        let (this, incarnation) = (self.weak(), self.incarnation());
        let (other, id) = (other.into(), MonitorId::next());
        self.owned_work().monitor(id, |place| {
            other.watch_down(id, move |down| {
                drop(place);
                this.notify(incarnation, down);
            })
        });
        id
    }

    /// Undoes a [`monitor`](Self::monitor) of this actor. A [`Down`] in transit still
    /// arrives.
    pub fn demonitor(&mut self, monitor: MonitorId) {
        self.owned_work().demonitor(monitor);
    }

    /// Spawns an actor that is [linked](Self::link) with this one.
    pub fn spawn_linked<B: SendActor>(&mut self, child: B) -> Addr<B> {
        let child = crate::spawn::spawn(child);
        self.link(&child);
        child
    }
}
