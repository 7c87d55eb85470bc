//! What a plan wants done.

use std::time::Duration;

use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::supervise::strategy::StopMode;

/// An action that the supervisor must perform.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum PlanAction {
    /// Create the child's state, and let it receive messages.
    Start { child: ActorId, run: u64 },
    /// Take it down. `last`: for good, which a supervisor passes on to its children.
    Stop { child: ActorId, run: u64, mode: StopMode, last: bool },
    /// It has not stopped in time.
    Kill { child: ActorId },
    /// It is down, and is not restarted.
    End { child: ActorId, reason: ExitReason },
    /// Answer the commands that wait for this outcome.
    Tell { child: ActorId, what: ChildOutcome },
    /// The start of a declared child has failed, and it is not restarted.
    StartFailed { child: ActorId, reason: ExitReason },
    /// Log that a child is restarted.
    Restarting { child: ActorId, reason: ExitReason, delay: Duration },
    /// Take it down without waiting for it, because its supervisor is down.
    Halt { child: ActorId },
    /// All children are down: end.
    Exit(ExitReason),
}

/// What has happened to a child.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ChildOutcome {
    Up,
    /// It failed to start on command.
    Failed(ExitReason),
    Down,
    Gone,
}

/// Why a child cannot be restarted, terminated or deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommandRefusal {
    Unknown,
    /// It is up, or starting.
    Running,
    /// The supervisor is about to end.
    Stopping,
}
