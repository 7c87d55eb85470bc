//! Actors whose runtime ends.

use std::any::Any;

use coact_core::{Ending, catch};

use super::{Cell, Phase, refuse_all};
use crate::directive::Directive;
use crate::front::Front;
use crate::supervise::{Leave, Overseer};
use crate::{Actor, ExitReason, WeakAddr};

impl<A: Actor> Cell<A> {
    /// The runtime is about to end: so does the actor. A supervisor takes its children down first, and a
    /// child leaves that to its supervisor.
    #[cold]
    pub(super) fn end_with_runtime(&mut self, front: &Front, ending: &Ending) {
        if !ending.is_forced() {
            let ward = self.has_rest().and_then(|rest| rest.ward.as_ref());
            if ward.is_some_and(|ward| ward.has_supervisor_in(ending)) {
                return;
            }
            if let Some(supervisor) = (&self.this as &dyn Any).downcast_ref::<WeakAddr<Overseer>>()
                && supervisor.send(Leave::with_runtime()).is_ok()
            {
                return;
            }
        }
        self.end_for_good(front, ExitReason::Shutdown);
    }

    /// The runtime has ended before the actor: it ends without a farewell, and that is told.
    #[cold]
    pub(super) fn cut_off(&mut self, front: &Front) {
        if self.phase != Phase::Ended {
            self.apply_ties(front);
            self.end_hold_for(&ExitReason::Killed);
            self.drop_letters();
            self.phase = Phase::Ended;
            let ward = self.leave_supervisor();
            self.finish(front, ExitReason::Killed);
            if let Some(ward) = ward {
                let _ = catch(|| ward.end(front.id()));
            }
        }
        refuse_all(front);
    }

    /// Of what was left for the actor: who is to be told of its end, and who is not.
    fn apply_ties(&mut self, front: &Front) {
        while let Some(directive) = front.take_directive() {
            match directive {
                Directive::Tie(tie) => self.tie(front, tie),
                other => drop(catch(move || drop(other))),
            }
        }
    }

    /// Drops what was set aside: as the messages in the queue, it will not be handled.
    fn drop_letters(&mut self) {
        let stash = self.body.as_mut().map(|body| body.context.take_stash());
        let again = self.has_rest().map(|rest| std::mem::take(&mut rest.again));
        drop((stash, again));
    }
}
