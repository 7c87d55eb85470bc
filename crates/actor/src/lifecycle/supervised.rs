//! The steps of supervised actors: they go down and come up again.

use super::core::{ActorPhase, reason_of};
use super::typed_steps::{LifecycleHook, TypedSteps};
use crate::events;
use crate::exit::ExitReason;
use crate::shared_state::SharedState;
use crate::signal::Signal;
use crate::supervised_side::AnySupervisor;

impl dyn TypedSteps + '_ {
    #[cold]
    pub(super) fn start(&mut self, shared: &SharedState, by: Box<dyn AnySupervisor>, run: u64) {
        // It did not go down in time, the supervisor went on, and it is still running.
        if self.core().phase == ActorPhase::Running {
            self.kill(shared, ExitReason::Killed);
        }
        let core = self.core();
        let Some(supervision) = core.extras().and_then(|extras| extras.supervision.as_mut()) else {
            return;
        };
        let last = supervision.begin(by, run);
        core.extras_or_init().links.end_incarnation(shared.id());
        core.phase = ActorPhase::Running;
        if let Err(why) = self.begin_incarnation() {
            self.subject().failed(&why);
            return self.go_down(shared, why);
        }
        match last {
            None => {
                self.hook(LifecycleHook::Started);
                events::actor_started(|| self.subject());
            }
            Some(reason) => {
                self.hook(LifecycleHook::Restarted(&reason));
                self.subject().restarted(&reason);
            }
        }
        self.hear_of_exits(shared);
    }

    /// Signals the ends of linked actors while this one was down, behind the pending operations of
    /// its hook.
    fn hear_of_exits(&mut self, shared: &SharedState) {
        for (from, reason) in self.core().extras_or_init().links.take_exits() {
            // The actor is alive.
            let _ = shared.push_signal(Signal::Exit { from, reason });
        }
    }

    /// Drops the state, and reports that to the supervisor. Messages continue to wait.
    #[cold]
    pub(super) fn go_down(&mut self, shared: &SharedState, mut reason: ExitReason) {
        self.core().phase = ActorPhase::Down;
        let (set_aside, dropped) = self.drop_state();
        self.put_unstashed_first(set_aside);
        let extras = self.core().extras_or_init();
        // Its links stay until another state begins: if none does, this was the actor's end.
        extras.links.trap = None;
        // A panic in `stopped` is a failure.
        let failure = extras.failure.take();
        let failure = failure.or_else(|| dropped.err().map(|why| reason_of(&why)));
        if let Some(failure) = failure
            && reason.is_normal()
        {
            reason = failure;
        }
        let supervision = self.core().extras().and_then(|extras| extras.supervision.as_mut());
        if supervision.is_some_and(|supervision| !supervision.fall(shared.id(), reason.clone())) {
            self.end_orphaned(shared, reason);
        }
    }

    /// Reports to the supervisor that the actor is up, once its start has ended.
    pub(super) fn announce(&mut self, shared: &SharedState) {
        let core = self.core();
        if core.phase != ActorPhase::Running {
            return;
        }
        let Some(extras) = core.extras() else { return };
        if extras.is_held {
            return;
        }
        if extras.supervision.as_mut().is_some_and(|supervision| !supervision.announce(shared.id()))
        {
            self.end_orphaned(shared, ExitReason::Shutdown);
        }
    }

    /// Ends the actor, which is not started again.
    pub(super) fn end_for_good(&mut self, shared: &SharedState, reason: ExitReason) {
        self.end_hold_for(&reason);
        let supervision = self.core().leave_supervisor();
        self.end(shared, reason);
        if let Some(supervision) = supervision {
            supervision.end(shared.id());
        }
    }

    /// Ends the actor because its supervisor is gone.
    #[cold]
    fn end_orphaned(&mut self, shared: &SharedState, reason: ExitReason) {
        self.core().leave_supervisor();
        self.end(shared, reason);
    }
}
