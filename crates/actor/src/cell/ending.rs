//! How ends are told, and actors whose runtime ends.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use coact_core::{Ending, catch, when};
use parking_lot::Mutex;

use super::{Cell, Phase, reason_of_end, refuse, refuse_all};
use crate::directive::{Directive, Tie};
use crate::front::Front;
use crate::supervise::{Leave, Overseer};
use crate::{Actor, Addr, ExitReason, WeakAddr};

/// Does something once, when it is dropped at the latest.
struct InAnyCase<F: FnOnce()>(Mutex<Option<F>>);

impl<F: FnOnce()> InAnyCase<F> {
    fn new(work: F) -> Self {
        Self(Mutex::new(Some(work)))
    }

    /// Does it now, unless it is done.
    fn now(&self) {
        let work = self.0.lock().take();
        if let Some(work) = work {
            let _ = catch(work);
        }
    }
}

impl<F: FnOnce()> Drop for InAnyCase<F> {
    fn drop(&mut self) {
        self.now();
    }
}

/// Has the end of an actor told behind the messages that it has left: so they are counted by then.
///
/// If other cowns may hold these up, it is told at once, since it must not wait for them: by the caller, or, if what tells
/// is the user's and the caller is not the actor's host, by that.
fn tell_behind<A: Actor>(address: &Addr<A>, by_host: bool, tell: impl FnOnce() + Send + 'static) {
    let (tell, front) = (Arc::new(InAnyCase::new(tell)), address.cown().front());
    let now = |tell: Arc<InAnyCase<_>>| {
        if by_host {
            address.home().after(Duration::ZERO, (), move |()| tell.now());
        } else {
            tell.now();
        }
    };
    if front.is_entangled() {
        return now(tell);
    }
    let behind = Arc::clone(&tell);
    when(address.cown().regardless(), move |_| behind.now());
    // A behaviour that stands before that one has entangled the actor before it was queued, so that is seen now.
    if front.is_entangled() {
        now(tell);
    }
}

/// Answers what was left for an actor that has ended: behind what it has left itself, as far as that tells of its end.
///
/// The thread that has left it calls this: a behaviour that waits for others may hold the actor.
#[cold]
pub(crate) fn refuse_late<A: Actor>(address: &Addr<A>) {
    let front = address.cown().front();
    while let Some(directive) = front.take_directive() {
        let _ = catch(|| refuse_behind(Some(address), front, directive));
    }
}

/// Answers a directive that has come too late, a monitor behind what the actor has left. (An actor without
/// addresses has no messages left.)
fn refuse_behind<A: Actor>(address: Option<&Addr<A>>, front: &Front, directive: Directive) {
    match (directive, address) {
        (Directive::Tie(Tie::Monitor(monitor)), Some(address)) => {
            let (actor, reason) = (front.id(), reason_of_end(front));
            let by_host = monitor.tell.is_the_users();
            tell_behind(address, by_host, move || monitor.down(actor, &reason));
        }
        (other, _) => refuse(front, other),
    }
}

impl<A: Actor> Cell<A> {
    /// See [`tell_behind`]; for the actor's host.
    pub(super) fn tell_behind(&self, tell: impl FnOnce() + Send + 'static) {
        match self.this().upgrade() {
            Some(address) => tell_behind(&address, false, tell),
            None => drop(catch(tell)),
        }
    }

    /// Answers those who have come while the end was told.
    pub(super) fn refuse_late(&self, front: &Front) {
        if front.has_directives() {
            self.this().upgrade().iter().for_each(refuse_late);
        }
    }

    /// See [`refuse_behind`].
    pub(super) fn refuse_behind(&self, front: &Front, directive: Directive) {
        refuse_behind(self.this().upgrade().as_ref(), front, directive);
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
            if let Some(supervisor) = (self.this() as &dyn Any).downcast_ref::<WeakAddr<Overseer>>()
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
}
