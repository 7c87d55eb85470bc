//! The part that the cells of all actors share.

use std::any::Any;
use std::sync::Arc;

use coact_core::Broken;
use coact_sync::shim::process::Mutex;

use crate::exit::ExitReason;
use crate::intensity::RestartIntensity;
use crate::links::Links;
use crate::mailbox::Envelopes;
use crate::signal::Signal;
use crate::supervised_side::SupervisionState;

/// The part of a cell that is the same for all actors.
pub(crate) struct CellCore {
    pub(crate) phase: ActorPhase,
    /// The core has counted the message that comes next, as it counts all that come past the
    /// deadline of a shutdown. (Whether that has passed must be asked once for each.)
    pub(crate) is_cancelled: bool,
    /// Counts the turns with the actor; wraps. See [`idle_timeout`](crate::idle_timeout).
    pub(crate) turns: u32,
    /// State that few actors need.
    pub(super) extras: Option<Box<Mutex<RareCellState>>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ActorPhase {
    /// [`Actor::started`](crate::Actor::started) has not been called yet.
    Starting,
    Running,
    /// It has no state, and waits for its supervisor's decision.
    Down,
    Ended,
}

#[derive(Default)]
pub(crate) struct RareCellState {
    pub(crate) links: Links,
    /// `None` without a supervisor.
    pub(crate) supervision: Option<SupervisionState>,
    /// How often it may restart after panics, if it restarts itself.
    pub(crate) limit: Option<Box<RestartIntensity>>,
    /// Messages wait until the actor is resumed.
    pub(crate) suspended: bool,
    /// A future holds the actor.
    pub(crate) is_held: bool,
    /// That future finishes a handler: signals wait for its end.
    pub(crate) is_in_handler: bool,
    /// A signal that waits for what comes before the end of the state.
    pub(crate) postponed: Option<Signal>,
    /// The actor has panicked, and the panic has not been handled yet.
    pub(crate) failure: Option<ExitReason>,
    /// Unstashed messages, which come before everything that waits.
    pub(crate) unstashed: Envelopes,
    /// The number of the incarnation, from 0.
    pub(crate) incarnation: u32,
    /// The part that depends on the actor's type.
    pub(crate) own: Option<Box<dyn Any + Send>>,
}

impl CellCore {
    pub(crate) fn new(phase: ActorPhase, extras: Option<RareCellState>) -> Self {
        let extras = extras.map(|extras| Box::new(Mutex::new(extras)));
        Self { phase, is_cancelled: false, turns: 0, extras }
    }

    #[inline]
    pub(crate) fn count_turn(&mut self) {
        self.turns = self.turns.wrapping_add(1);
    }

    pub(crate) fn extras_or_init(&mut self) -> &mut RareCellState {
        self.extras.get_or_insert_default().get_mut()
    }

    #[inline]
    pub(crate) fn extras(&mut self) -> Option<&mut RareCellState> {
        self.extras.as_mut().map(|extras| extras.get_mut())
    }

    /// Returns whether there are no extras.
    #[inline]
    pub(crate) fn is_bare(&self) -> bool {
        self.extras.is_none()
    }

    pub(super) fn is_held(&mut self) -> bool {
        self.extras().is_some_and(|extras| extras.is_held)
    }

    pub(crate) fn is_supervised(&mut self) -> bool {
        self.extras().is_some_and(|extras| extras.supervision.is_some())
    }

    /// Detaches the actor from its supervisor: it is not started again.
    pub(crate) fn leave_supervisor(&mut self) -> Option<SupervisionState> {
        self.extras().and_then(|extras| extras.supervision.take())
    }

    pub(super) fn take_postponed(&mut self) -> Option<Signal> {
        self.extras().and_then(|extras| extras.postponed.take())
    }

    pub(super) fn take_failure(&mut self) -> Option<ExitReason> {
        self.extras().and_then(|extras| extras.failure.take())
    }

    #[cold]
    pub(crate) fn fail(&mut self, why: &Broken) {
        self.extras_or_init().failure = Some(reason_of(why));
    }
}

/// Converts a caught panic into an exit reason.
pub(crate) fn reason_of(why: &Broken) -> ExitReason {
    match why {
        Broken::Panicked(message) => ExitReason::Panicked(Arc::clone(message)),
        other => ExitReason::Failed(other.to_string().into()),
    }
}
