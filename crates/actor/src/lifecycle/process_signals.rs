//! What an actor does between two messages: it applies signals and runs pending operations.

use std::task::Poll;

use coact_core::internals::catch;
use coact_core::when;

use super::core::ActorPhase;
use super::typed_steps::{LifecycleHook, PendingOp, TypedSteps};
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::mailbox::Envelopes;
use crate::monitor::Exited;
use crate::owned_work::report_dropped_future;
use crate::reply::in_end_for;
use crate::shared_state::SharedState;
use crate::signal::{LinkChange, Signal};

/// How many pending operations run in a row before other work has the worker.
const STEPS: u32 = 256;

/// How many signals are applied in a row before other work on the same worker has its turn.
const SIGNALS: u32 = 64;

impl dyn TypedSteps + '_ {
    /// Applies the signals that wait and runs pending operations. Returns false if signals are
    /// left: after [`SIGNALS`] of them other work has its turn, and the actor is interrupted again.
    pub(crate) fn process_signals(&mut self, shared: &SharedState) -> bool {
        let mut applied = 0;
        let is_all = loop {
            // A panic comes first: signals pushed after it find the actor ended. And so does the
            // end of a handler, or of a start, that a future finishes.
            self.handle_failure(shared);
            if self.is_in_handler(shared) {
                return true;
            }
            if applied >= SIGNALS && shared.has_signals() && self.address().interrupt() {
                break false;
            }
            let postponed = self.core().take_postponed();
            let Some(signal) = postponed.or_else(|| shared.take_signal()) else { break true };
            if self.prepares_for(&signal) {
                self.core().extras_or_init().postponed = Some(signal);
                continue;
            }
            self.apply(shared, signal);
            applied += 1;
        };
        if self.core().phase == ActorPhase::Running {
            self.run_pending(shared);
        }
        is_all
    }

    /// Has the state do what comes before a signal ends it. Returns whether the signal must wait
    /// for that.
    fn prepares_for(&mut self, signal: &Signal) -> bool {
        if self.core().phase != ActorPhase::Running {
            return false;
        }
        match signal {
            Signal::Stop(reason) | Signal::Kill(reason) => {
                self.end_hold_for(reason);
                in_end_for(reason, || self.prepare_end())
            }
            Signal::Restart(_) => {
                self.end_hold();
                self.prepare_end()
            }
            _ => false,
        }
    }

    fn apply(&mut self, shared: &SharedState, signal: Signal) {
        match self.core().phase {
            ActorPhase::Ended => return self.refuse_behind(shared, signal),
            // There is no state to end or replace.
            ActorPhase::Down if signal.ends_a_run() => return,
            _ => {}
        }
        match signal {
            Signal::Stop(reason) => {
                self.end_hold_for(&reason);
                self.end(shared, reason);
            }
            Signal::Kill(reason) => self.kill(shared, reason),
            Signal::Restart(reason) => {
                self.end_hold();
                self.restart(shared, &reason);
            }
            Signal::Start { by, run } => self.start(shared, by, run),
            Signal::End(reason) => self.end_for_good(shared, reason),
            Signal::RuntimeEnds(ending) => self.end_with_runtime(shared, &ending),
            Signal::Suspend => self.core().extras_or_init().suspended = true,
            Signal::Resume => self.core().extras_or_init().suspended = false,
            Signal::Interrupt => self.hook(LifecycleHook::Interrupt),
            Signal::Exit { from, reason } => self.on_exit(shared, from, reason),
            Signal::Links(change) => self.change_links(shared, change),
        }
    }

    pub(super) fn change_links(&mut self, shared: &SharedState, change: LinkChange) {
        let extras = self.core().extras_or_init();
        let incarnation = extras.incarnation;
        extras.links.change(shared.id(), incarnation, change);
    }

    fn on_exit(&mut self, shared: &SharedState, from: ActorId, reason: ExitReason) {
        let core = self.core();
        let is_down = core.phase == ActorPhase::Down;
        let links = &mut core.extras_or_init().links;
        if is_down {
            return links.exit_later(from, reason);
        }
        // The exit of an actor that was unlinked meanwhile is void.
        if !links.unlink(from) {
            return;
        }
        if let Some(trap) = &links.trap {
            return trap(Exited { actor: from, reason });
        }
        if !reason.is_normal() {
            let reason = ExitReason::Linked(from, reason.into_cause());
            self.end_hold_for(&reason);
            self.end(shared, reason);
        }
    }

    /// Runs the pending operations of handlers and hooks, and those that these add, until none is
    /// left.
    fn run_pending(&mut self, shared: &SharedState) {
        let mut steps = 0;
        while self.core().phase == ActorPhase::Running && self.run_one_pending(shared) {
            steps += 1;
            if steps == STEPS {
                // Its futures keep requesting futures that are ready at once.
                self.come_again();
                break;
            }
        }
        self.announce(shared);
    }

    /// Yields the worker to others, and has the actor interrupted again.
    fn come_again(&self) {
        let this = self.address().to_any();
        when((), move |()| this.interrupt());
    }

    /// Runs one pending operation, if there is one.
    fn run_one_pending(&mut self, shared: &SharedState) -> bool {
        if self.handle_failure(shared) {
            return true;
        }
        if self.core().is_held() {
            return self.go_on_with_hold();
        }
        match self.take_pending() {
            Some(PendingOp::Stop(reason)) => self.end(shared, reason),
            Some(PendingOp::Unstash(envelopes)) => self.put_unstashed_first(envelopes),
            Some(PendingOp::Held) => self.core().extras_or_init().is_held = true,
            None => return false,
        }
        true
    }

    /// Ends or restarts the actor if it has failed.
    fn handle_failure(&mut self, shared: &SharedState) -> bool {
        let core = self.core();
        if core.phase != ActorPhase::Running {
            return false;
        }
        let Some(reason) = core.take_failure() else { return false };
        self.fail(shared, reason);
        true
    }

    /// Puts messages before all others.
    pub(super) fn put_unstashed_first(&mut self, envelopes: Envelopes) {
        if !envelopes.is_empty() {
            self.core().extras_or_init().unstashed.prepend(envelopes);
        }
    }

    /// Handles the next unstashed message, unless messages must wait.
    pub(crate) fn drain_one_stashed(&mut self) {
        if self.waits() {
            return;
        }
        let envelope = self.core().extras().and_then(|extras| extras.unstashed.pop_front());
        let Some(envelope) = envelope else { return };
        if let Err(why) = catch(|| self.give(envelope)) {
            self.core().fail(&why);
        }
    }

    /// Returns whether messages must wait.
    pub(crate) fn waits(&mut self) -> bool {
        let core = self.core();
        let is_down = core.phase == ActorPhase::Down;
        is_down
            || core.extras().is_some_and(|extras| extras.suspended || extras.is_held)
            || self.must_pause_messages()
    }

    /// Returns whether unstashed messages come before the next behaviour.
    pub(crate) fn has_reserved(&mut self) -> bool {
        self.core().extras().is_some_and(|extras| !extras.unstashed.is_empty())
    }

    /// Calls a hook of the actor. A panic fails it.
    pub(crate) fn hook(&mut self, hook: LifecycleHook<'_>) {
        if let Err(why) = self.call(hook) {
            self.core().fail(&why);
        }
    }

    /// Polls the future that holds the actor; returns whether it has ended.
    fn go_on_with_hold(&mut self) -> bool {
        match self.poll_hold() {
            Ok(Poll::Pending) => return false,
            Ok(Poll::Ready(())) => self.end_hold(),
            Err(why) => {
                self.end_hold();
                self.core().fail(&why);
            }
        }
        true
    }

    /// Goes on with a handler that is finished by a future, if there is one. Returns whether its
    /// end is still to come: signals wait for that, as for the end of any handler.
    fn is_in_handler(&mut self, shared: &SharedState) -> bool {
        if self.core().phase != ActorPhase::Running {
            return false;
        }
        if self.begin_unfinished() {
            let extras = self.core().extras_or_init();
            (extras.is_held, extras.is_in_handler) = (true, true);
        }
        let is_in_handler = self.core().extras().is_some_and(|extras| extras.is_in_handler);
        if !is_in_handler || !self.go_on_with_hold() {
            return is_in_handler;
        }
        // What it has panicked with comes first as well.
        self.handle_failure(shared);
        false
    }

    /// Drops the future that holds the actor, if there is one, and takes the state out of it.
    fn end_hold(&mut self) {
        if let Some(extras) = self.core().extras()
            && std::mem::take(&mut extras.is_held)
        {
            extras.is_in_handler = false;
            self.take_back();
        }
    }

    /// Drops that future for an actor that ends: replies that the future has fail for that reason.
    pub(super) fn end_hold_for(&mut self, reason: &ExitReason) {
        if self.core().is_held() {
            report_dropped_future();
            in_end_for(reason, || self.end_hold());
        }
    }
}
