//! Which children are restarted, and how they are stopped.

use std::time::Duration;

/// Which children a supervisor restarts when one of them goes down.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Strategy {
    /// Only that child.
    OneForOne,
    /// All: the others are stopped, last first, then all are started in order.
    OneForAll,
    /// That child and those added after it, in the same way.
    RestForOne,
    /// Only that child, and children start and stop in no order. For many children that are added
    /// at run time.
    Dynamic,
}

impl Strategy {
    /// Returns whether children start, and stop, one after the other.
    pub(crate) fn is_ordered(self) -> bool {
        self != Strategy::Dynamic
    }
}

/// Whether a child that went down is restarted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Restart {
    /// Always, however it went down.
    Permanent,
    /// Unless its end was [intended](crate::actor::ExitReason::is_normal).
    Transient,
    /// Never.
    Temporary,
}

/// Whether a supervisor ends when its [significant](crate::supervise::Child::significant) children
/// have ended for good.
///
/// A child ends for good when it goes down by itself and its [`Restart`] does not restart it, or
/// when it ends with a runtime of its own. Ends that were requested do not count: those by
/// [`terminate_child`](crate::supervise::Supervisor::terminate_child) and
/// [`delete_child`](crate::supervise::Supervisor::delete_child), and those of temporary children
/// that are stopped because a sibling is restarted. Nor does a start by
/// [`start_child`](crate::supervise::Supervisor::start_child) that fails.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[doc(alias = "auto_shutdown")]
pub enum AutoShutdown {
    /// It does not; it cannot have significant children. The default.
    #[default]
    Never,
    /// It ends when one of them has ended.
    AnySignificant,
    /// It ends when the last of them has ended. Those that were
    /// [terminated](crate::supervise::Supervisor::terminate_child) count as ended.
    AllSignificant,
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

    /// Stops it after its current message, calling [`stopped`](crate::Actor::stopped). The default,
    /// with 5 seconds.
    pub const fn stop() -> Self {
        Self::new(StopMode::Stop)
    }

    /// Stops it after all its waiting messages, if it is stopped for good or with its supervisor.
    /// If it is restarted because a sibling failed, its messages are kept, and it stops after the
    /// current one.
    pub const fn drain() -> Self {
        Self::new(StopMode::Drain)
    }

    /// Stops it after its current message, without calling [`stopped`](crate::Actor::stopped).
    pub const fn kill() -> Self {
        Self::new(StopMode::Kill)
    }

    /// Sets how long the supervisor waits. Then the child is killed, and the supervisor continues:
    /// a child that is deep in an endless message cannot be cut off, and follows when that message
    /// ends.
    pub const fn within(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Has the supervisor wait as long as it takes. The default for children that are supervisors,
    /// whose own children have deadlines.
    pub const fn without_deadline(self) -> Self {
        Self { deadline: None, ..self }
    }

    /// Returns how long the supervisor waits; `None` if there is no limit.
    pub const fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// Returns the mode for a restart: messages are kept, so a drain is not needed.
    pub(crate) fn for_restart(self) -> StopMode {
        if self.mode == StopMode::Drain { StopMode::Stop } else { self.mode }
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::stop()
    }
}
