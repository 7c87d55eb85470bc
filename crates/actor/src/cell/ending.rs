//! How ends are told, and actors whose runtime ends.

use std::any::Any;

use coact_core::{Ending, catch, when};

use super::{Cell, Phase, reason_of_end, refuse, refuse_all};
use crate::directive::{Directive, Tie};
use crate::front::Front;
use crate::supervise::{Leave, Overseer};
use crate::{Actor, ExitReason, WeakAddr};

/// Does something once, when it is dropped at the latest.
struct InAnyCase<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for InAnyCase<F> {
    fn drop(&mut self) {
        if let Some(work) = self.0.take() {
            let _ = catch(work);
        }
    }
}

impl<A: Actor> Cell<A> {
    /// Has the end told behind the messages that the actor, which has ended, has left: so they are counted by then.
    ///
    /// If other cowns may hold these up, it is told at once, since it must not wait for them.
    pub(super) fn tell_behind(&self, front: &Front, tell: impl FnOnce() + Send + 'static) {
        let tell = InAnyCase(Some(tell));
        // One that nobody has the address of has no messages left.
        let address = self.this.upgrade().filter(|_| !front.is_entangled());
        if let Some(address) = address {
            when(address.cown().regardless(), move |_| drop(tell));
        }
    }

    /// Answers a directive that has come too late, a monitor behind what the actor has left.
    pub(super) fn refuse_behind(&self, front: &Front, directive: Directive) {
        match directive {
            Directive::Tie(Tie::Monitor(monitor)) => {
                let (actor, reason) = (front.id(), reason_of_end(front));
                self.tell_behind(front, move || monitor.down(actor, &reason));
            }
            other => refuse(front, other),
        }
    }

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
