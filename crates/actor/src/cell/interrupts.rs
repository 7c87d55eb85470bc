//! What an actor does between two messages: it starts, sees to its signals, and ends.

use coact_core::internals::{Ending, Gate, Interruptible, UnreachableCown, WorkerPlace};
use coact_core::{Broken, Cown};

use crate::events;
use crate::exit::ExitReason;
use crate::lifecycle::{ActorPhase, TypedSteps, reason_of};
use crate::parts::{Actor, ActorCell};
use crate::shared_state::SharedState;
use crate::signal::Signal;

impl<A: Actor> ActorCell<A> {
    /// Starts the actor, if it has not started. Returns false if it must not start yet.
    #[inline(always)]
    fn begin(&mut self, shared: &SharedState) -> bool {
        if self.core.phase == ActorPhase::Starting {
            if shared.is_deferred() {
                return false;
            }
            self.core.phase = ActorPhase::Running;
            self.call_hook(|actor, context| actor.started(context));
            events::actor_started(|| self.subject());
        }
        true
    }

    /// Processes the signals first: no message overtakes one. Unstashed messages come before the
    /// next behaviour, one per turn; like that behaviour, they wait for the other members of the
    /// actor's group.
    #[inline(never)]
    fn process_signals_at_gate(&mut self, shared: &SharedState) -> Gate {
        let this = self.managed();
        if !this.process_signals(shared) || this.waits() {
            Gate::Shut
        } else if this.has_reserved() {
            Gate::Reserved
        } else {
            Gate::Open
        }
    }
}

impl<A: Actor> Interruptible for ActorCell<A> {
    type SharedState = SharedState;

    const MAY_HAVE_PLACE: bool = A::MAY_HAVE_PLACE;

    #[inline]
    fn place(&self) -> Option<WorkerPlace> {
        self.body.as_ref()?.actor.get().place()
    }

    fn on_interrupt(&mut self, shared: &SharedState) -> Gate {
        if !self.begin(shared) {
            return Gate::Shut;
        }
        if self.is_plain(shared) { Gate::Open } else { self.process_signals_at_gate(shared) }
    }

    /// A stop is left to [`last_handle_gone`](Self::last_handle_gone), where a plain actor ends at
    /// less cost.
    fn on_last_interrupt(&mut self, shared: &SharedState) -> Gate {
        if !self.begin(shared) {
            return Gate::Shut;
        }
        if self.is_plain_but_for_stop(shared) {
            Gate::Open
        } else {
            self.process_signals_at_gate(shared)
        }
    }

    fn take_turn(&mut self, shared: &SharedState) -> Gate {
        self.managed().drain_one_stashed();
        self.process_signals_at_gate(shared)
    }

    fn cancel(&mut self, shared: &SharedState) {
        self.managed().cut_off(shared);
        self.core.is_cancelled = true;
    }

    fn failed(&mut self, _: &SharedState, why: &Broken) {
        // Of several panics before the failure is handled, the first counts.
        self.core.extras_or_init().failure.get_or_insert_with(|| reason_of(why));
    }

    fn end(shared: &SharedState, ending: &Ending) {
        // The caller interrupts the actor after this.
        let _ = shared.push_signal(Signal::RuntimeEnds(ending.clone()));
    }

    fn number(shared: &SharedState) -> u64 {
        shared.id().get()
    }

    /// Handles the loss of the last address. (The pending operations of its last messages have run
    /// before.)
    fn last_handle_gone(&mut self, shared: &SharedState, cown: &UnreachableCown<'_, Self>) {
        if A::COMMITS
            && let Some(body) = &mut self.body
            && !body.actor.get_mut().may_end()
        {
            return cown.check_again();
        }
        if self.is_plain_but_for_stop(shared) {
            return self.end_plainly(shared, cown);
        }
        self.core.leave_supervisor();
        self.managed().end(shared, ExitReason::Normal);
    }

    fn unreachable(last: Cown<Self>) {
        end_unreachable(last);
    }
}

/// Ends an actor whose last address is gone, after the waiting messages.
#[cold]
#[inline(never)]
fn end_unreachable<A: Actor>(last: Cown<ActorCell<A>>) {
    if last.is_closed() {
        return;
    }
    if last.shared_state().is_suspended() {
        // No address is left to resume it.
        let _ = last.shared_state().push_signal(Signal::Resume);
        last.interrupt();
    }
    // Unless there is an address again by then: the actor can create one, and a weak address can be
    // upgraded.
    last.spawn_last_handle_check();
}
