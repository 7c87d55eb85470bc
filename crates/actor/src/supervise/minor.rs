//! A supervisor's side: its hold on a child, whatever the child's type.

use std::sync::Arc;

use super::overseer::{Leave, Overseer};
use super::strategy::Way;
use crate::signal::Signal;
use crate::{Actor, ActorId, Addr, ExitReason, WeakAddr};

/// A child. It is kept alive by this, and ends with it.
pub(crate) struct Minor {
    hold: Box<dyn Hold>,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) is_supervisor: bool,
}

impl Minor {
    pub(crate) fn actor<A: Actor>(address: Addr<A>, name: Option<Arc<str>>) -> Self {
        Self { hold: Box::new(address), name, is_supervisor: false }
    }

    pub(crate) fn supervisor(address: Addr<Overseer>, name: Option<Arc<str>>) -> Self {
        Self { hold: Box::new(Inferior(address)), name, is_supervisor: true }
    }

    pub(crate) fn id(&self) -> ActorId {
        self.hold.id()
    }

    pub(crate) fn start(&self, by: WeakAddr<Overseer>, run: u64) {
        self.hold.push_signal(Signal::Start { by, run });
    }

    pub(crate) fn stop(&self, run: u64, way: Way, last: bool) {
        match way {
            Way::Kill => self.hold.push_signal(Signal::Kill(ExitReason::Shutdown)),
            Way::Stop => self.hold.stop(run, last),
            Way::Drain => self.hold.drain(run, last),
        }
    }

    /// At once, and with all below, if it is a supervisor.
    pub(crate) fn halt(&self) {
        self.hold.push_signal(Signal::Stop(ExitReason::Shutdown));
    }

    /// The child has not stopped in time.
    pub(crate) fn kill(&self) {
        self.hold.push_signal_first(Signal::Kill(ExitReason::Killed));
    }

    pub(crate) fn end(&self, reason: ExitReason) {
        self.hold.push_signal(Signal::End(reason));
    }
}

impl Drop for Minor {
    fn drop(&mut self) {
        // To one that has ended already this says nothing.
        self.end(ExitReason::Shutdown);
    }
}

/// What a supervisor does with a child.
trait Hold: Send {
    fn id(&self) -> ActorId;
    fn push_signal(&self, signal: Signal);
    fn push_signal_first(&self, signal: Signal);
    fn stop(&self, run: u64, last: bool);
    fn drain(&self, run: u64, last: bool);
}

impl<A: Actor> Hold for Addr<A> {
    fn id(&self) -> ActorId {
        Addr::id(self)
    }

    fn push_signal(&self, signal: Signal) {
        Addr::push_signal(self, signal);
    }

    fn push_signal_first(&self, signal: Signal) {
        Addr::push_signal_first(self, signal);
    }

    fn stop(&self, _: u64, _: bool) {
        Addr::push_signal(self, Signal::Stop(ExitReason::Shutdown));
    }

    fn drain(&self, run: u64, _: bool) {
        self.drain_run(run);
    }
}

/// A child that is a supervisor: it takes its own children down before it goes.
struct Inferior(Addr<Overseer>);

impl Hold for Inferior {
    fn id(&self) -> ActorId {
        self.0.id()
    }

    fn push_signal(&self, signal: Signal) {
        self.0.push_signal(signal);
    }

    fn push_signal_first(&self, signal: Signal) {
        self.0.push_signal_first(signal);
    }

    fn stop(&self, run: u64, last: bool) {
        // A supervisor that has ended has no children left to stop.
        let _ = self.0.send(Leave::ordered(run, last));
    }

    fn drain(&self, run: u64, last: bool) {
        self.stop(run, last);
    }
}
