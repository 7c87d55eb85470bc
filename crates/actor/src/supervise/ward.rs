//! A supervised actor's side: what it knows of its supervisor, and tells it.

use coact_core::Ending;

use super::overseer::{Overseer, Report};
use crate::{ActorId, ExitReason, WeakAddr};

/// What a supervised actor has beside others.
#[derive(Default)]
pub(crate) struct Ward {
    /// Known from the first start on.
    supervisor: Option<WeakAddr<Overseer>>,
    /// How often it was started.
    run: u64,
    /// Whether the supervisor is yet to be told that the actor is up.
    silent: bool,
    /// Why it went down last.
    last: Option<ExitReason>,
}

/// What has become of a supervised actor.
pub(crate) enum Fate {
    Up,
    Down(ExitReason),
    Ended,
}

impl Ward {
    /// The actor is started. Returns why it went down before, if it was up already.
    pub(crate) fn begin(&mut self, by: WeakAddr<Overseer>, run: u64) -> Option<ExitReason> {
        self.supervisor = Some(by);
        self.run = run;
        self.silent = true;
        self.last.take()
    }

    /// Whether the supervisor is about to end as well, and will see to the actor.
    pub(crate) fn has_supervisor_in(&self, ending: &Ending) -> bool {
        let supervisor = self.supervisor.as_ref().and_then(WeakAddr::upgrade);
        supervisor.is_some_and(|of| !of.has_ended() && ending.concerns(of.home()))
    }

    pub(crate) fn run(&self) -> u64 {
        self.run
    }

    /// Returns whether there is a supervisor who cares.
    pub(crate) fn announce(&mut self, actor: ActorId) -> bool {
        !std::mem::take(&mut self.silent) || self.report(actor, Fate::Up)
    }

    /// Returns whether there is a supervisor who cares.
    pub(crate) fn fall(&mut self, actor: ActorId, reason: ExitReason) -> bool {
        self.last = Some(reason.clone());
        self.report(actor, Fate::Down(reason))
    }

    /// Says that the actor has ended for good. A supervisor that is gone need not know.
    pub(crate) fn end(&self, actor: ActorId) {
        let _ = self.report(actor, Fate::Ended);
    }

    fn report(&self, child: ActorId, fate: Fate) -> bool {
        let Some(supervisor) = &self.supervisor else { return false };
        supervisor.send(Report { child, run: self.run, fate }).is_ok()
    }
}
