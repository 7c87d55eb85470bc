//! The plan's record of one child.

use std::time::Duration;

use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::supervise::backoff::Backoff;
use crate::supervise::error::StartError;
use crate::supervise::strategy::{AutoShutdown, Restart, Shutdown};

/// How a supervisor restarts and stops a child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChildSpec {
    pub(crate) restart: Restart,
    pub(crate) shutdown: Shutdown,
    /// `None` means that of the supervisor.
    pub(crate) backoff: Option<Backoff>,
    /// Its end may end its supervisor.
    pub(crate) significant: bool,
}

impl ChildSpec {
    /// Checks that a supervisor with these settings can have such a child.
    pub(crate) fn check(&self, auto_shutdown: AutoShutdown) -> Result<(), StartError> {
        match (self.significant, self.restart, auto_shutdown) {
            (true, Restart::Permanent, _) => Err(StartError::PermanentSignificant),
            (true, _, AutoShutdown::Never) => Err(StartError::NoAutoShutdown),
            _ => Ok(()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EntryState {
    Down,
    /// The start was requested.
    Starting,
    Up,
    /// The stop was requested.
    Stopping,
}

/// The state that a child should reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TargetState {
    Up,
    Down,
    Gone,
}

/// A start by command, which is answered with the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StartTrial {
    /// If the start fails, the child is gone.
    New,
    /// If the start fails, the child stays down.
    Again,
}

pub(super) struct ChildEntry {
    pub(super) child: ActorId,
    pub(super) spec: ChildSpec,
    /// Added at run time, not declared.
    pub(super) added: bool,
    /// Counts its starts. Reports of earlier runs are void.
    pub(super) run: u64,
    pub(super) state: EntryState,
    pub(super) aim: TargetState,
    pub(super) trial: Option<StartTrial>,
    /// It must not be started before this time.
    pub(super) not_before: Duration,
    /// When it came up, if it has in this run.
    pub(super) since: Option<Duration>,
    /// Failures in a row.
    pub(super) streak: u32,
    pub(super) alarm: Option<Duration>,
    /// It did not stop in time; the supervisor does not wait for it until it is up again.
    pub(super) late: bool,
    /// Why it went down, if it is started again only together with its supervisor.
    pub(super) fell_for: Option<ExitReason>,
}

impl ChildEntry {
    pub(super) fn new(child: ActorId, spec: ChildSpec, added: bool) -> Self {
        Self {
            child,
            spec,
            added,
            run: 0,
            state: EntryState::Down,
            aim: TargetState::Up,
            trial: None,
            not_before: Duration::ZERO,
            since: None,
            streak: 0,
            alarm: None,
            late: false,
            fell_for: None,
        }
    }

    pub(super) fn is_up(&self) -> bool {
        matches!(self.state, EntryState::Starting | EntryState::Up)
    }

    /// Returns whether it should be up, and is not.
    pub(super) fn is_missing(&self) -> bool {
        self.aim == TargetState::Up && self.state != EntryState::Up
    }

    /// Returns why it ends if it is not started again.
    pub(super) fn end_reason(&self) -> ExitReason {
        self.fell_for.clone().unwrap_or(ExitReason::Shutdown)
    }

    /// Returns whether the run that has just ended was long enough to count as healthy.
    pub(super) fn run_was_calm(&self, now: Duration, calm: Duration) -> bool {
        self.since.is_some_and(|since| now.saturating_sub(since) > calm)
    }

    pub(super) fn view(&self) -> ChildView {
        let state = match (self.state, self.aim) {
            (EntryState::Starting, _) => ChildState::Starting,
            (EntryState::Up, _) => ChildState::Running,
            (EntryState::Stopping, _) => ChildState::Stopping,
            (EntryState::Down, TargetState::Up) => ChildState::Waiting,
            (EntryState::Down, _) => ChildState::Stopped,
        };
        ChildView {
            child: self.child,
            restart: self.spec.restart,
            is_significant: self.spec.significant,
            restarts: self.run.saturating_sub(1),
            state,
        }
    }
}

/// The public view of a child.
pub(crate) struct ChildView {
    pub(crate) child: ActorId,
    pub(crate) restart: Restart,
    pub(crate) is_significant: bool,
    pub(crate) restarts: u64,
    pub(crate) state: ChildState,
}

/// The state of a child.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ChildState {
    /// Its state is being created, or its [`started`](crate::Actor::started) has not ended yet.
    Starting,
    /// It receives messages.
    Running,
    /// It is down, and waits to be started or restarted: for the end of its backoff, or for its
    /// turn. Its messages wait too.
    Waiting,
    /// Its stop was requested, and it has not stopped yet.
    Stopping,
    /// It was terminated. Its messages wait.
    Stopped,
}
