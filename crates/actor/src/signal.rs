//! Signals: the system messages that overtake an actor's other messages.
//!
//! A sender pushes a signal onto the list in the actor's front and alerts the actor. The actor applies
//! its signals in order, before its next message, or at once if it is idle. While a future holds it,
//! it applies all signals; those that end or replace its state drop the future.

use coact_core::Ending;

use crate::life::{Monitor, MonitorId};
use crate::supervise::Overseer;
use crate::{ActorId, AnyAddr, ExitReason, Exited, WeakAddr};

pub(crate) enum Signal {
    /// End after the current message.
    Stop(ExitReason),
    /// End now, without calling `stopped`; a future that holds the actor is dropped.
    Kill(ExitReason),
    /// Restart after the current message.
    Restart(ExitReason),
    /// The supervisor starts the actor: make a (new) state and run.
    Start { by: WeakAddr<Overseer>, run: u64 },
    /// The supervisor ends the actor for good.
    End(ExitReason),
    /// The runtime is about to end.
    RuntimeEnds(Ending),
    /// Handle no messages until `Resume`.
    Suspend,
    /// Handle messages again.
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

impl Signal {
    /// Whether it ends or replaces the actor's state.
    pub(crate) fn ends_a_run(&self) -> bool {
        matches!(self, Signal::Stop(_) | Signal::Kill(_) | Signal::Restart(_))
    }
}
