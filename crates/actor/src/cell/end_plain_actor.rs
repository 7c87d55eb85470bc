//! The end of an actor without signals or extras whose last address is gone: how most actors end.

use coact_core::internals::{ThreadBound, UnreachableCown, catch};

use super::drop_in_end;
use crate::events::{self, EventSubject};
use crate::exit::ExitReason;
use crate::lifecycle::{ActorPhase, refuse_all};
use crate::parts::{Actor, ActorAndContext, ActorCell, Context};
use crate::shared_state::SharedState;

impl<A: Actor> ActorCell<A> {
    /// Returns whether it runs without signals, extras or pending operations.
    #[inline]
    pub(super) fn is_plain(&self, shared: &SharedState) -> bool {
        self.core.phase == ActorPhase::Running && !shared.may_have_signals() && self.is_bare()
    }

    /// Like [`is_plain`](Self::is_plain), except that the only signal may be a stop.
    #[inline]
    pub(super) fn is_plain_but_for_stop(&self, shared: &SharedState) -> bool {
        self.core.phase == ActorPhase::Running && !shared.has_control() && self.is_bare()
    }

    /// Returns whether it has its state, without extras or pending operations.
    #[inline]
    pub(super) fn is_bare(&self) -> bool {
        let has_extras = |body: &ActorAndContext<A>| !body.context.is_bare();
        self.core.is_bare() && !self.body.as_ref().is_none_or(has_extras)
    }

    /// Calls a hook directly, with the effect of [`TypedSteps::call`]. A panic fails the actor.
    #[inline(always)]
    pub(super) fn call_hook(&mut self, hook: impl FnOnce(&mut A, &mut Context<A>)) {
        let Some(ActorAndContext { actor, context }) = &mut self.body else { return };
        if let Err(why) = catch(|| hook(actor.get_mut(), context)) {
            self.core.fail(&why);
        }
    }

    /// Ends an actor whose last address is gone, and that is [plain](Self::is_plain_but_for_stop).
    pub(super) fn end_plainly(&mut self, shared: &SharedState, cown: &UnreachableCown<'_, Self>) {
        let reason = if shared.has_stop() { &ExitReason::Shutdown } else { &ExitReason::Normal };
        self.core.phase = ActorPhase::Ended;
        self.call_hook(|actor, context| actor.stopped(reason, context));
        self.give_back();
        let has_control = shared.has_control();
        let state = if has_control { None } else { self.take_unseen(shared, reason, cown) };
        let Some(actor) = state else {
            // The actor has stopped.
            shared.forget_stop();
            return self.managed().finish_stopped(shared, reason);
        };
        drop_in_end(actor, reason);
        events::actor_stopped(|| EventSubject::new::<A>(shared.id()), reason);
    }

    /// Takes the state out, if it has no extras, and ends the cown with it, if no address of any
    /// kind is left: then there is nothing to announce.
    fn take_unseen(
        &mut self,
        shared: &SharedState,
        reason: &ExitReason,
        cown: &UnreachableCown<'_, Self>,
    ) -> Option<ThreadBound<A>> {
        if !self.is_bare() {
            return None;
        }
        let ActorAndContext { actor, context } = self.body.take()?;
        let (this, _) = context.into_parts();
        match this.try_end(cown) {
            Ok(()) => {
                if shared.has_control() {
                    // It arrived after the caller's look, through an address that is gone again.
                    end_unseen(shared, reason);
                } else {
                    cown.skip_drop();
                }
                Some(actor)
            }
            Err(this) => {
                self.body = Some(ActorAndContext { actor, context: Context::new(this, 0) });
                None
            }
        }
    }
}

/// Ends what others have begun with an actor that has no address left, and answers its signals.
#[cold]
fn end_unseen(shared: &SharedState, reason: &ExitReason) {
    shared.set_end(reason);
    shared.open_mailbox();
    refuse_all(shared);
}
