//! What overtakes the messages of an actor.
//!
//! Directives are left at the actor's front, and the actor is alerted: it obeys them, in the order
//! in which they came, before its next message; at once if it is idle; and, but for those that end
//! or replace its state, while a future holds it.

use coact_core::Ending;

use crate::life::{Monitor, MonitorId};
use crate::supervise::Overseer;
use crate::{ActorId, AnyAddr, ExitReason, Exited, WeakAddr};

pub(crate) enum Directive {
    /// End after the current message.
    Stop(ExitReason),
    /// End now, without a farewell; a future that holds the actor is dropped.
    Kill(ExitReason),
    /// Begin anew after the current message.
    Restart(ExitReason),
    /// The supervisor says: make a (new) state and run.
    Start { by: WeakAddr<Overseer>, run: u64 },
    /// The supervisor says: end for good.
    End(ExitReason),
    /// The runtime is about to end.
    RuntimeEnds(Ending),
    /// Let messages wait.
    Suspend,
    /// Let them come again.
    Resume,
    /// An actor that this one is linked to has ended.
    Exit { from: ActorId, reason: ExitReason },
    /// Tie to others, or untie.
    Tie(Tie),
}

/// What is to become of an actor's ties to others.
pub(crate) enum Tie {
    /// End with the other one. If this actor has asked for it: which of its states.
    Link { other: AnyAddr, by: Option<u32> },
    /// Undo that.
    Unlink(ActorId),
    /// The state of the other one that has asked for the link is gone.
    Release(ActorId),
    /// Tell when this actor ends.
    Monitor(Monitor),
    /// Undo that.
    Demonitor(MonitorId),
    /// Tell of the ends of linked actors, instead of ending with them.
    TrapExits { tell: Option<Box<dyn Fn(Exited) + Send>>, life: u32 },
}

impl Directive {
    /// Whether it is about the actor's state, which it ends or replaces.
    pub(crate) fn ends_a_run(&self) -> bool {
        matches!(self, Directive::Stop(_) | Directive::Kill(_) | Directive::Restart(_))
    }
}
