//! How an actor fails, restarts and ends.

use coact_core::internals::{Ending, catch, drop_quietly};
use coact_core::runtime::RuntimeHandle;

use super::announce::{self, refuse_all};
use super::core::{ActorPhase, RareCellState, reason_of};
use super::erased_self::AnyStrong;
use super::typed_steps::{LifecycleHook, TypedSteps};
use crate::events;
use crate::exit::ExitReason;
use crate::mailbox::Envelopes;
use crate::shared_state::SharedState;
use crate::signal::Signal;

impl dyn TypedSteps + '_ {
    /// Restarts or ends the actor after a panic.
    #[cold]
    pub(super) fn fail(&mut self, shared: &SharedState, reason: ExitReason) {
        self.subject().failed(&reason);
        let limit = self.core().extras().and_then(|extras| extras.limit.as_mut());
        if limit.is_some_and(|limit| limit.allows(RuntimeHandle::current().elapsed())) {
            self.restart(shared, &reason);
        } else {
            self.end(shared, reason);
        }
    }

    #[cold]
    pub(super) fn kill(&mut self, shared: &SharedState, reason: ExitReason) {
        self.end_hold_for(&reason);
        self.core().phase = ActorPhase::Ended;
        self.finish(shared, reason);
    }

    /// Ends the actor, after calling its [`stopped`](crate::Actor::stopped).
    pub(crate) fn end(&mut self, shared: &SharedState, reason: ExitReason) {
        self.core().phase = ActorPhase::Ended;
        let reason = self.call_stopped(reason);
        self.finish(shared, reason);
    }

    /// Ends an actor whose [`stopped`](crate::Actor::stopped) was called.
    pub(crate) fn finish_stopped(&mut self, shared: &SharedState, reason: &ExitReason) {
        let reason = self.reason_after_stopped(reason.clone());
        self.finish(shared, reason);
    }

    /// Calls [`Actor::stopped`](crate::Actor::stopped). Returns the exit reason.
    fn call_stopped(&mut self, reason: ExitReason) -> ExitReason {
        self.hook(LifecycleHook::Stopped(&reason));
        self.reason_after_stopped(reason)
    }

    /// If [`Actor::stopped`](crate::Actor::stopped) has failed, publishes the failure. Returns the
    /// exit reason: the failure, if `reason` is a normal one.
    fn reason_after_stopped(&mut self, reason: ExitReason) -> ExitReason {
        let Some(failure) = self.core().take_failure() else { return reason };
        self.subject().failed(&failure);
        if reason.is_normal() { failure } else { reason }
    }

    /// Ends the actor and announces its end; a supervised actor only goes down.
    pub(super) fn finish(&mut self, shared: &SharedState, reason: ExitReason) {
        if self.core().is_supervised() {
            return self.go_down(shared, reason);
        }
        shared.set_end(&reason);
        self.address().close();
        shared.open_mailbox();
        if let Some(set_aside) = self.drop_last_state(&reason) {
            self.dead_letter_all(set_aside);
        }
        events::actor_stopped(|| self.subject(), &reason);
        if let Some(extras) = self.core().extras.take() {
            self.finish_extras(shared, extras.into_inner(), reason);
        }
        if shared.set_announced() {
            self.refuse_late(shared);
        }
    }

    /// Announces the end to links and monitors, and drops the extras.
    #[cold]
    fn finish_extras(&mut self, shared: &SharedState, extras: RareCellState, reason: ExitReason) {
        let RareCellState { links, own, unstashed, .. } = extras;
        drop_quietly(move || drop(own));
        self.dead_letter_all(unstashed);
        if !links.is_empty() {
            let actor = shared.id();
            self.announce_behind(Box::new(move || links.announce_end(actor, &reason)));
        }
    }

    /// Drops the stash of an actor that has ended, as dead letters.
    fn dead_letter_all(&mut self, mut envelopes: Envelopes) {
        while let Some(envelope) = envelopes.pop_front() {
            let _ = catch(|| self.give(envelope));
        }
    }

    #[cold]
    pub(super) fn restart(&mut self, shared: &SharedState, reason: &ExitReason) {
        if !self.is_restartable() {
            return self.end(shared, reason.clone());
        }
        self.call_stopped(reason.clone());
        let (set_aside, _) = self.drop_state();
        self.put_unstashed_first(set_aside);
        self.core().extras_or_init().failure = None;
        match self.begin_incarnation() {
            Ok(()) => {
                self.hook(LifecycleHook::Restarted(reason));
                self.subject().restarted(reason);
            }
            Err(why) => {
                self.subject().failed(&why);
                self.end(shared, why);
            }
        }
    }

    /// Creates the state of a new incarnation. What the previous one has begun ends with it; if
    /// there is none, with the actor.
    pub(super) fn begin_incarnation(&mut self) -> Result<(), ExitReason> {
        let incarnation = self.core().extras_or_init().incarnation.wrapping_add(1).max(1);
        self.renew(incarnation).map_err(|why| reason_of(&why))?;
        let id = self.address().id();
        let extras = self.core().extras_or_init();
        extras.incarnation = incarnation;
        extras.links.end_incarnation(id);
        Ok(())
    }

    /// Counts a message of this type as a dead letter; returns why the actor has ended.
    #[cold]
    pub(crate) fn count_dead_letter(&mut self, message: &'static str) -> ExitReason {
        let shared = self.address().shared();
        shared.count_dead_letter();
        let reason = shared.end().cloned().unwrap_or(ExitReason::Normal);
        self.subject().missed(message, &reason);
        if RuntimeHandle::current().is_ending() && !self.core().is_cancelled {
            RuntimeHandle::current().count_abandoned();
        }
        reason
    }

    /// See [`announce_behind`](announce::announce_behind); for the actor's host.
    fn announce_behind(&self, tell: Box<dyn FnOnce() + Send>) {
        match self.address().upgrade() {
            Some(address) => announce::announce_behind(&*address, false, tell),
            None => drop(catch(tell)),
        }
    }

    /// Answers the signals that arrived while the end was announced.
    fn refuse_late(&self, shared: &SharedState) {
        if shared.has_signals() {
            self.address().upgrade().iter().for_each(|address| announce::refuse_late(&**address));
        }
    }

    /// See [`refuse_behind`](announce::refuse_behind).
    pub(super) fn refuse_behind(&self, shared: &SharedState, signal: Signal) {
        let address: Option<Box<dyn AnyStrong>> = self.address().upgrade();
        announce::refuse_behind(address.as_deref(), shared, signal);
    }

    /// Ends the actor because its runtime is about to end. An actor that has something to do first
    /// (a supervisor takes its children down) ends itself, and a child waits for its supervisor.
    #[cold]
    pub(super) fn end_with_runtime(&mut self, shared: &SharedState, ending: &Ending) {
        if !ending.is_forced() {
            let supervision = self.core().extras().and_then(|extras| extras.supervision.as_ref());
            if supervision.is_some_and(|supervision| supervision.has_supervisor_in(ending)) {
                return;
            }
            if self.ends_by_itself() {
                return;
            }
        }
        self.end_for_good(shared, ExitReason::Shutdown);
    }

    /// Ends the actor without calling `stopped`, because the runtime has ended first, and announces
    /// that.
    #[cold]
    pub(crate) fn cut_off(&mut self, shared: &SharedState) {
        if self.core().phase != ActorPhase::Ended {
            self.apply_link_changes(shared);
            self.end_hold_for(&ExitReason::Killed);
            self.core().phase = ActorPhase::Ended;
            let supervision = self.core().leave_supervisor();
            self.finish(shared, ExitReason::Killed);
            if let Some(supervision) = supervision {
                let _ = catch(|| supervision.end(shared.id()));
            }
        }
        refuse_all(shared);
    }

    /// Applies link changes, which decide which actors are notified of the actor's end; drops the
    /// other signals.
    fn apply_link_changes(&mut self, shared: &SharedState) {
        while let Some(signal) = shared.take_signal() {
            match signal {
                Signal::Links(change) => self.change_links(shared, change),
                other => drop_quietly(move || drop(other)),
            }
        }
    }
}
