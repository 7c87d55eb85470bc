//! Who waits for the outcome of a command to a supervisor.

use coact_core::promise::Resolver;

use super::error::ChildError;
use super::plan::ChildOutcome;
use crate::exit::ExitReason;

/// Answers a command.
pub(crate) type CommandReply = Resolver<Result<(), ChildError>>;

pub(super) struct CommandWaiter {
    pub(super) until: AwaitedState,
    pub(super) answer: CommandReply,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AwaitedState {
    Up,
    Down,
    Gone,
}

impl AwaitedState {
    /// Returns the answer to a waiter after an outcome, if there is one yet.
    pub(super) fn answer(self, what: &ChildOutcome) -> Option<Result<(), ChildError>> {
        match (self, what) {
            (AwaitedState::Up, ChildOutcome::Up)
            | (AwaitedState::Down, ChildOutcome::Down | ChildOutcome::Gone)
            | (AwaitedState::Gone, ChildOutcome::Gone) => Some(Ok(())),
            (AwaitedState::Up, ChildOutcome::Failed(reason)) => {
                Some(Err(ChildError::Failed(reason.clone())))
            }
            (AwaitedState::Up, ChildOutcome::Down | ChildOutcome::Gone) => {
                Some(Err(ChildError::Failed(ExitReason::Shutdown)))
            }
            // It is down already, and stays down.
            (AwaitedState::Down, ChildOutcome::Failed(_)) => Some(Ok(())),
            _ => None,
        }
    }
}
