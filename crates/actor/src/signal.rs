//! Signals: the system messages that overtake an actor's other messages.
//!
//! A sender pushes a signal onto the list in the actor's shared state and interrupts the actor. The
//! actor applies its signals in order, before its next message, or at once if it is idle. While a
//! future holds it, it applies all signals; those that end or replace its state drop the future.

use std::sync::Arc;

use coact_core::internals::Ending;

use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::monitor::{Exited, Monitor, MonitorId};
use crate::supervised_side::AnySupervisor;

pub(crate) enum Signal {
    /// End after the current message.
    Stop(ExitReason),
    /// End now, without calling `stopped`; a future that holds the actor is dropped.
    Kill(ExitReason),
    /// Restart after the current message.
    Restart(ExitReason),
    /// The supervisor starts the actor: make a (new) state and run.
    Start { by: Box<dyn AnySupervisor>, run: u64 },
    /// The supervisor ends the actor for good.
    End(ExitReason),
    /// The runtime is about to end.
    RuntimeEnds(Ending),
    /// Handle no messages until `Resume`.
    Suspend,
    /// Handle messages again.
    Resume,
    /// Look after the state, before anything else sees it.
    Interrupt,
    /// An actor that this one is linked to has ended.
    Exit { from: ActorId, reason: ExitReason },
    /// Link or monitor, or undo that.
    Links(LinkChange),
}

/// A change of an actor's links and monitors.
pub(crate) enum LinkChange {
    /// Link with the other actor. `by`: which state of this actor requested it, if not the other
    /// actor.
    Link { other: Arc<dyn LinkPeer>, by: Option<u32> },
    /// Undo a link.
    Unlink(ActorId),
    /// The state of the other actor that requested the link is gone.
    Release(ActorId),
    /// Notify a monitor when this actor ends.
    Monitor(Monitor),
    /// Undo a monitor.
    Demonitor(MonitorId),
    /// Deliver the ends of linked actors to `tell` instead of ending with them; `None` restores the
    /// default.
    TrapExits { tell: Option<Box<dyn Fn(Exited) + Send>>, incarnation: u32 },
}

impl Signal {
    /// Returns whether the signal ends or replaces the actor's state.
    pub(crate) fn ends_a_run(&self) -> bool {
        matches!(self, Signal::Stop(_) | Signal::Kill(_) | Signal::Restart(_))
    }
}

/// Another actor, as seen by one that is linked to it.
pub(crate) trait LinkPeer: Send + Sync {
    fn id(&self) -> ActorId;

    /// Sends a signal; returns it if the actor is gone.
    fn signal(&self, signal: Signal) -> Result<(), Signal>;
}
