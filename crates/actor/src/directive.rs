//! What overtakes the messages of an actor.
//!
//! Directives are left at the actor's front, and the actor is alerted: it obeys them, in the order
//! in which they came, before its next message; at once if it is idle; and, but for those that end
//! or replace its state, while a future holds it.

use crate::life::{Monitor, MonitorId};
use crate::{ActorId, AnyAddr, ExitReason, Exited};

pub(crate) enum Directive {
    /// End after the current message.
    Stop(ExitReason),
    /// End now, without a farewell; a future that holds the actor is dropped.
    Kill(ExitReason),
    /// Begin anew after the current message.
    Restart(ExitReason),
    /// Let messages wait.
    Suspend,
    /// Let them come again.
    Resume,
    /// End with the other one.
    Link(AnyAddr),
    /// Undo that.
    Unlink(ActorId),
    /// An actor that this one is linked to has ended.
    Exit { from: ActorId, reason: ExitReason },
    /// Tell when this actor ends.
    Monitor(Monitor),
    /// Undo that.
    Demonitor(MonitorId),
    /// Tell of the ends of linked actors, instead of ending with them.
    TrapExits(Option<Box<dyn Fn(Exited) + Send>>),
}
