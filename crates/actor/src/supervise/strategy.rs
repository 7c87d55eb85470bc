//! Which children are restarted, and how they are stopped.

use std::time::Duration;

/// Which children a supervisor restarts when one of them goes down.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Strategy {
    /// That one.
    OneForOne,
    /// All: the others are stopped, last first, then all are started in their order.
    OneForAll,
    /// That one and those that were added after it, in the same way.
    RestForOne,
    /// That one; and no order among children is kept at the start and at the end either. For many
    /// children that are added at run time.
    Dynamic,
}

impl Strategy {
    /// Whether children start, and stop, one after the other.
    pub(crate) fn is_ordered(self) -> bool {
        self != Strategy::Dynamic
    }
}

/// Whether a child that went down is restarted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Restart {
    /// Always, however it went down.
    Permanent,
    /// Unless its end was [meant](crate::actor::ExitReason::is_normal).
    Transient,
    /// Never.
    Temporary,
}

/// How a child is stopped, and how long its supervisor waits for that.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::supervise::Shutdown;
/// use std::time::Duration;
///
/// let patient = Shutdown::drain().within(Duration::from_secs(60));
/// assert_eq!(patient.deadline(), Some(Duration::from_secs(60)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shutdown {
    pub(crate) mode: StopMode,
    deadline: Option<Duration>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StopMode {
    Stop,
    Drain,
    Kill,
}

impl Shutdown {
    const PATIENCE: Duration = Duration::from_secs(5);

    const fn new(mode: StopMode) -> Self {
        Self { mode, deadline: Some(Self::PATIENCE) }
    }

    /// After its current message, with a [farewell](crate::Actor::stopped). The default, with 5
    /// seconds.
    pub const fn stop() -> Self {
        Self::new(StopMode::Stop)
    }

    /// After all messages that it has, if it is stopped for good or with its supervisor. If it is
    /// restarted since a sibling failed, its messages are kept, and it is just stopped.
    pub const fn drain() -> Self {
        Self::new(StopMode::Drain)
    }

    /// After its current message, without calling [`stopped`](crate::Actor::stopped).
    pub const fn kill() -> Self {
        Self::new(StopMode::Kill)
    }

    /// How long the supervisor waits. Then the child is killed, and the supervisor goes on: a child
    /// that is deep in an endless message cannot be cut off, and follows when it comes to its end.
    pub const fn within(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// The supervisor waits as long as it takes. The default for children that are supervisors,
    /// whose own children have their deadlines.
    pub const fn without_deadline(self) -> Self {
        Self { deadline: None, ..self }
    }

    /// How long the supervisor waits, if not for ever.
    pub const fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// The mode for a restart: messages are kept, so a drain is not needed.
    pub(crate) fn for_restart(self) -> StopMode {
        if self.mode == StopMode::Drain { StopMode::Stop } else { self.mode }
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::stop()
    }
}
