//! An actor as the state of a cown.

mod end_plain_actor;
mod interrupts;
pub(crate) mod receive;
mod untyped_view;

use std::any::Any;
use std::mem::needs_drop;

use coact_core::WeakCown;
use coact_core::internals::{ThreadBound, drop_quietly};

use crate::exit::ExitReason;
use crate::holding_future::HoldingFuture;
use crate::intensity::RestartIntensity;
use crate::lifecycle::{ActorPhase, CellCore, RareCellState, TypedSteps};
use crate::parts::{Actor, ActorAndContext, ActorCell, Context, HoldRequest, WeakAddr};
use crate::reply::in_end_for;
use crate::shared_state::SharedState;
use crate::supervised_side::SupervisionState;

/// Creates a new state for a restart; called where the actor runs.
pub(crate) type StateFactory<A> = Box<dyn FnMut() -> ThreadBound<A> + Send>;

/// The part of [`RareCellState`] that depends on the actor's type.
struct CellExtras<A: Actor> {
    factory: Option<StateFactory<A>>,
    hold: Option<HoldingFuture<A>>,
}

impl<A: Actor> CellExtras<A> {
    fn boxed(factory: Option<StateFactory<A>>) -> Box<dyn Any + Send> {
        Box::new(Self { factory, hold: None })
    }
}

impl<A: Actor> ActorCell<A> {
    pub(crate) fn new(
        actor: ThreadBound<A>,
        this: WeakCown<Self>,
        factory: Option<StateFactory<A>>,
        limit: Option<Box<RestartIntensity>>,
    ) -> Self {
        let extras = factory.map(|factory| {
            let own = Some(CellExtras::boxed(Some(factory)));
            RareCellState { own, limit, ..RareCellState::default() }
        });
        let context = Context::new(WeakAddr::new(this), 0);
        let body = Some(ActorAndContext { actor, context });
        Self { body, this: None, core: CellCore::new(ActorPhase::Starting, extras) }
    }

    /// Creates an actor that its supervisor has not started yet.
    pub(crate) fn supervised(this: WeakCown<Self>, make: StateFactory<A>) -> Self {
        let (own, supervision) =
            (Some(CellExtras::boxed(Some(make))), Some(SupervisionState::default()));
        let extras = RareCellState { own, supervision, ..RareCellState::default() };
        let this = Some(WeakAddr::new(this));
        Self { body: None, this, core: CellCore::new(ActorPhase::Down, Some(extras)) }
    }

    /// Returns the cell without its type.
    #[inline]
    fn managed(&mut self) -> &mut dyn TypedSteps {
        self
    }

    pub(crate) fn shared(&self) -> &SharedState {
        self.this().shared()
    }

    fn this(&self) -> &WeakAddr<A> {
        match &self.body {
            Some(body) => body.context.this(),
            None => self.this.as_ref().expect("a body leaves it behind"),
        }
    }

    /// Takes the body out.
    fn take_body(&mut self) -> Option<ActorAndContext<A>> {
        let body = self.body.take()?;
        self.this.get_or_insert_with(|| body.context.weak());
        Some(body)
    }

    /// Has a future hold the actor, if it is alive.
    fn begin_hold(&mut self, request: HoldRequest<A>) -> bool {
        let Some(body) = self.take_body() else { return false };
        let hold = HoldingFuture::begin(request, body);
        let own =
            self.core.extras_or_init().own.get_or_insert_with(|| CellExtras::<A>::boxed(None));
        if let Some(own) = own.downcast_mut::<CellExtras<A>>() {
            own.hold = Some(hold);
        }
        true
    }

    /// Returns the extras that depend on the type, if there are any.
    fn own(&mut self) -> Option<&mut CellExtras<A>> {
        self.core.extras()?.own.as_mut()?.downcast_mut()
    }

    /// Has the state put the messages that it keeps into the stash, before it is dropped.
    #[inline]
    fn give_back(&mut self) {
        if let Some(ActorAndContext { actor, context }) = &mut self.body {
            actor.get_mut().give_back(context);
        }
    }

    /// Stops the actor, if it is still in this run.
    pub(crate) fn drain_run(&mut self, run: u64) {
        let supervision = self.core.extras().and_then(|extras| extras.supervision.as_ref());
        if supervision.is_some_and(|supervision| supervision.run() == run) {
            self.call(|_, context| context.stop_with(ExitReason::Shutdown));
        }
    }
}

/// Drops the state of an actor that ends.
#[inline]
fn drop_in_end<A: Actor>(actor: ThreadBound<A>, reason: &ExitReason) {
    if needs_drop::<A>() {
        drop_quietly(|| in_end_for(reason, move || drop(actor)));
    }
}

/// Ends an actor whose cell is dropped before its end, for example with its runtime.
impl<A: Actor> Drop for ActorCell<A> {
    fn drop(&mut self) {
        if self.core.phase != ActorPhase::Ended {
            let this = self.this().clone();
            self.managed().cut_off(this.shared());
        }
    }
}
