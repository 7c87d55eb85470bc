//! What concerns supervised actors only: they go down and come up again.

use coact_core::catch;

use super::{Cell, Phase, reason_of};
use crate::directive::Directive;
use crate::front::Front;
use crate::supervise::{Overseer, Ward};
use crate::{Actor, ExitReason, WeakAddr};

impl<A: Actor> Cell<A> {
    pub(super) fn is_supervised(&mut self) -> bool {
        self.has_rest().is_some_and(|rest| rest.ward.is_some())
    }

    /// From now on nobody starts the actor again.
    pub(super) fn leave_supervisor(&mut self) -> Option<Ward> {
        self.has_rest().and_then(|rest| rest.ward.take())
    }

    #[cold]
    pub(super) fn start(&mut self, front: &Front, by: WeakAddr<Overseer>, run: u64) {
        // It was given up since it did not go down in time, and is still there.
        if self.phase == Phase::Running {
            self.kill(front, ExitReason::Killed);
        }
        let Some(ward) = self.has_rest().and_then(|rest| rest.ward.as_mut()) else { return };
        let last = ward.begin(by, run);
        self.rest().ties.end_life(front.id());
        self.phase = Phase::Running;
        if let Err(why) = self.renew() {
            self.subject().failed(&why);
            return self.go_down(front, why);
        }
        match last {
            None => {
                self.hook(|actor, context| actor.started(context));
                self.subject().started();
            }
            Some(reason) => {
                self.hook(|actor, context| actor.restarted(&reason, context));
                self.subject().restarted(&reason);
            }
        }
        self.hear_of_exits(front);
    }

    /// Of linked actors that have ended while this one was down: behind what its hook has asked for.
    fn hear_of_exits(&mut self, front: &Front) {
        for (from, reason) in self.rest().ties.take_exits() {
            // The actor lives.
            let _ = front.leave(Directive::Exit { from, reason });
        }
    }

    /// Drops the state, and tells the supervisor. What waits goes on waiting.
    #[cold]
    pub(super) fn go_down(&mut self, front: &Front, mut reason: ExitReason) {
        self.phase = Phase::Down;
        let mut body = self.take_body();
        if let Some(body) = &mut body {
            self.handle_again(body.context.take_stash());
        }
        let dropped = catch(move || drop(body)).err();
        // Its links stay until another state begins: if none does, this was the actor's end.
        self.rest().ties.trap = None;
        // A farewell that fails is a failure.
        let failure = self.rest().failure.take();
        let failure = failure.or_else(|| dropped.map(|why| reason_of(&why)));
        if let Some(failure) = failure
            && reason.is_normal()
        {
            reason = failure;
        }
        let ward = self.has_rest().and_then(|rest| rest.ward.as_mut());
        if ward.is_some_and(|ward| !ward.fall(front.id(), reason.clone())) {
            self.end_orphaned(front, reason);
        }
    }

    /// Tells the supervisor that the actor is up, once its start has ended.
    pub(super) fn announce(&mut self, front: &Front) {
        if self.phase != Phase::Running {
            return;
        }
        let Some(rest) = self.has_rest() else { return };
        if rest.hold.is_some() {
            return;
        }
        if rest.ward.as_mut().is_some_and(|ward| !ward.announce(front.id())) {
            self.end_orphaned(front, ExitReason::Shutdown);
        }
    }

    /// The actor ends, and is not started again.
    pub(super) fn end_for_good(&mut self, front: &Front, reason: ExitReason) {
        self.end_hold_for(&reason);
        let ward = self.leave_supervisor();
        self.end(front, reason);
        if let Some(ward) = ward {
            ward.end(front.id());
        }
    }

    /// The supervisor is gone.
    #[cold]
    fn end_orphaned(&mut self, front: &Front, reason: ExitReason) {
        self.leave_supervisor();
        self.end(front, reason);
    }

    /// Stops the actor, if it is (still) in that run.
    pub(crate) fn drain_run(&mut self, run: u64) {
        let ward = self.has_rest().and_then(|rest| rest.ward.as_ref());
        if ward.is_some_and(|ward| ward.run() == run) {
            self.call(|_, context| context.stop_with(ExitReason::Shutdown));
        }
    }
}
