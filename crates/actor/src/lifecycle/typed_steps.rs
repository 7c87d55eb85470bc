//! The steps of an actor's lifecycle that depend on its type.

use std::task::Poll;

use coact_core::Broken;

use super::core::CellCore;
use super::erased_self::AnyWeak;
use crate::events::EventSubject;
use crate::exit::ExitReason;
use crate::mailbox::{Envelope, Envelopes};

/// The hooks of [`Actor`](crate::Actor).
#[derive(Clone, Copy)]
pub(crate) enum LifecycleHook<'a> {
    Started,
    Restarted(&'a ExitReason),
    Stopped(&'a ExitReason),
    Interrupt,
}

/// An operation that the actor has requested through its context; it runs after the handler or
/// hook.
pub(crate) enum PendingOp {
    Stop(ExitReason),
    /// Handle stashed messages next.
    Unstash(Envelopes),
    /// A future holds the actor from now on.
    Held,
}

/// The steps that depend on the actor's type.
pub(crate) trait TypedSteps {
    fn core(&mut self) -> &mut CellCore;
    fn subject(&self) -> EventSubject;
    fn address(&self) -> &dyn AnyWeak;
    /// Calls a hook, if there is a state.
    fn call(&mut self, hook: LifecycleHook<'_>) -> Result<(), Broken>;
    /// Passes an unstashed message to the actor.
    fn give(&mut self, envelope: Box<dyn Envelope>);
    fn take_pending(&mut self) -> Option<PendingOp>;
    /// Begins with what finishes the handler that has just run: a future that holds the actor.
    /// Returns whether there is any.
    fn begin_unfinished(&mut self) -> bool;
    /// Calls [`prepare_end`](crate::Actor::prepare_end), if there is a state.
    fn prepare_end(&mut self) -> bool;
    /// Returns whether a stop or a hold is pending, so that messages must wait.
    fn must_pause_messages(&mut self) -> bool;
    /// Drops the state, before a new one is created; returns its stash.
    fn drop_state(&mut self) -> (Envelopes, Result<(), Broken>);
    /// Drops the state at the actor's end.
    fn drop_last_state(&mut self, reason: &ExitReason) -> Option<Envelopes>;
    fn is_restartable(&mut self) -> bool;
    /// Notifies the actor that its runtime is about to end. Returns whether it ends itself.
    fn ends_by_itself(&mut self) -> bool;
    /// Creates the state of a new incarnation; the first one is number 0.
    fn renew(&mut self, incarnation: u32) -> Result<(), Broken>;
    /// Polls the future that holds the actor.
    fn poll_hold(&mut self) -> Result<Poll<()>, Broken>;
    /// Drops that future, and takes the state out of it.
    fn take_back(&mut self);
}
