//! A supervisor as the child of another one.

use super::child_handle::AnyChild;
use super::readiness::ReadyPromise;
use super::supervisor_actor::SupervisorActor;
use super::supervisor_requests::{StopRequest, ask_ready};
use crate::id::ActorId;
use crate::parts::Addr;
use crate::signal::Signal;

/// A child that is a supervisor: it takes its own children down before it goes down.
pub(crate) struct ChildSupervisor(pub(crate) Addr<SupervisorActor>);

impl AnyChild for ChildSupervisor {
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
        let _ = self.0.send(StopRequest::by_supervisor(run, last));
    }

    fn drain(&self, run: u64, last: bool) {
        self.stop(run, last);
    }

    fn ask_ready(&self) -> Option<ReadyPromise> {
        Some(ask_ready(&self.0))
    }
}
