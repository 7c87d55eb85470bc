//! A supervisor's handle to a child of any type.

use std::sync::Arc;

use super::readiness::ReadyPromise;
use super::strategy::StopMode;
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::parts::{Actor, Addr};
use crate::signal::Signal;
use crate::supervised_side::AnySupervisor;

/// Keeps a child alive; the child ends when this is dropped.
pub(crate) struct ChildHandle {
    child: Box<dyn AnyChild>,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) is_supervisor: bool,
}

impl ChildHandle {
    pub(crate) fn actor<A: Actor>(address: Addr<A>, name: Option<Arc<str>>) -> Self {
        Self { child: Box::new(address), name, is_supervisor: false }
    }

    /// Creates the handle to a child that is a supervisor.
    pub(crate) fn supervisor(child: impl AnyChild + 'static, name: Option<Arc<str>>) -> Self {
        Self { child: Box::new(child), name, is_supervisor: true }
    }

    pub(crate) fn id(&self) -> ActorId {
        self.child.id()
    }

    /// Asks whether it and all below it are up, if it is a supervisor.
    pub(super) fn ask_ready(&self) -> Option<ReadyPromise> {
        self.child.ask_ready()
    }

    pub(crate) fn start(&self, by: Box<dyn AnySupervisor>, run: u64) {
        self.child.push_signal(Signal::Start { by, run });
    }

    pub(crate) fn stop(&self, run: u64, mode: StopMode, last: bool) {
        match mode {
            StopMode::Kill => self.child.push_signal(Signal::Kill(ExitReason::Shutdown)),
            StopMode::Stop => self.child.stop(run, last),
            StopMode::Drain => self.child.drain(run, last),
        }
    }

    /// Stops it without waiting; a supervisor halts its own children as well.
    pub(crate) fn halt(&self) {
        self.child.push_signal(Signal::Stop(ExitReason::Shutdown));
    }

    /// Kills a child that has not stopped in time.
    pub(crate) fn kill(&self) {
        self.child.push_signal_first(Signal::Kill(ExitReason::Killed));
    }

    pub(crate) fn end(&self, reason: ExitReason) {
        self.child.push_signal(Signal::End(reason));
    }
}

impl Drop for ChildHandle {
    fn drop(&mut self) {
        // A child that has ended ignores this.
        self.end(ExitReason::Shutdown);
    }
}

/// The address of a child, without its type.
pub(crate) trait AnyChild: Send {
    fn id(&self) -> ActorId;
    fn push_signal(&self, signal: Signal);
    fn push_signal_first(&self, signal: Signal);
    fn stop(&self, run: u64, last: bool);
    fn drain(&self, run: u64, last: bool);
    /// Asks a supervisor whether it and all below it are up.
    fn ask_ready(&self) -> Option<ReadyPromise> {
        None
    }
}

impl<A: Actor> AnyChild for Addr<A> {
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
