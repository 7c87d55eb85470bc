//! A supervised actor's side of supervision: what it knows of its supervisor, and what it reports.

use coact_core::internals::Ending;

use crate::exit::ExitReason;
use crate::id::ActorId;

/// The supervision state of a supervised actor.
#[derive(Default)]
pub(crate) struct SupervisionState {
    /// `None` before the first start.
    supervisor: Option<Box<dyn AnySupervisor>>,
    /// Counts its starts.
    run: u64,
    /// Whether [`ChildEvent::Up`] is yet to be reported.
    silent: bool,
    /// Why it last went down.
    last: Option<ExitReason>,
}

/// A supervisor, as its children know it.
pub(crate) trait AnySupervisor: Send + Sync {
    /// Takes a child's report. Returns false if the supervisor is gone.
    fn report(&self, child: ActorId, run: u64, event: ChildEvent) -> bool;

    /// Returns whether the supervisor ends with the same runtime.
    fn ends_with(&self, ending: &Ending) -> bool;
}

/// What a supervised actor reports.
pub(crate) enum ChildEvent {
    Up,
    Down(ExitReason),
    Ended,
}

impl SupervisionState {
    /// Begins a run. Returns why the last one ended, if there was one.
    pub(crate) fn begin(&mut self, by: Box<dyn AnySupervisor>, run: u64) -> Option<ExitReason> {
        self.supervisor = Some(by);
        self.run = run;
        self.silent = true;
        self.last.take()
    }

    /// Returns whether the supervisor ends with the same runtime, and so ends the actor.
    pub(crate) fn has_supervisor_in(&self, ending: &Ending) -> bool {
        self.supervisor.as_ref().is_some_and(|supervisor| supervisor.ends_with(ending))
    }

    pub(crate) fn run(&self) -> u64 {
        self.run
    }

    /// Reports once per run that the actor is up. Returns false if the supervisor is gone.
    pub(crate) fn announce(&mut self, actor: ActorId) -> bool {
        !std::mem::take(&mut self.silent) || self.report(actor, ChildEvent::Up)
    }

    /// Reports that the actor is down. Returns false if the supervisor is gone.
    pub(crate) fn fall(&mut self, actor: ActorId, reason: ExitReason) -> bool {
        self.last = Some(reason.clone());
        self.report(actor, ChildEvent::Down(reason))
    }

    /// Reports that the actor has ended for good. If the supervisor is gone, nothing is lost.
    pub(crate) fn end(&self, actor: ActorId) {
        let _ = self.report(actor, ChildEvent::Ended);
    }

    fn report(&self, child: ActorId, event: ChildEvent) -> bool {
        let Some(supervisor) = &self.supervisor else { return false };
        supervisor.report(child, self.run, event)
    }
}
