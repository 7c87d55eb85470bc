//! Who waits for the outcome of a command to a supervisor.

use coact_core::promise::Resolver;

use super::error::ChildError;
use super::plan::ChildOutcome;
use crate::exit::ExitReason;

/// Answers a command.
pub(crate) type CommandReply = Resolver<Result<(), ChildError>>;

pub(super) struct CommandWaiter {
    pub(super) until: Until,
    pub(super) answer: CommandReply,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    Up,
    Down,
    Gone,
}

impl Until {
    /// Returns the answer to a waiter after an outcome, if there is one yet.
    pub(super) fn answer(self, what: &ChildOutcome) -> Option<Result<(), ChildError>> {
        match (self, what) {
            (Until::Up, ChildOutcome::Up)
            | (Until::Down, ChildOutcome::Down | ChildOutcome::Gone)
            | (Until::Gone, ChildOutcome::Gone) => Some(Ok(())),
            (Until::Up, ChildOutcome::Failed(reason)) => {
                Some(Err(ChildError::Failed(reason.clone())))
            }
            (Until::Up, ChildOutcome::Down | ChildOutcome::Gone) => {
                Some(Err(ChildError::Failed(ExitReason::Shutdown)))
            }
            // It is down already, and stays down.
            (Until::Down, ChildOutcome::Failed(_)) => Some(Ok(())),
            _ => None,
        }
    }
}
