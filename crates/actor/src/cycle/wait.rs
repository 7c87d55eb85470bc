//! An ask that its actor is held for, and where its message is.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_core::{CownId, Place};
use parking_lot::Mutex;

use super::holder::{Holder, holder};
use super::{AskCycle, CycleAsk, table};
use crate::once::OnceLock;
use crate::{Actor, ActorId, AnyAddr, WeakAddr};

/// An ask by an actor that is held until the answer comes.
pub(crate) struct Wait {
    holder: Arc<Holder>,
    /// Of all waits, the how-manieth this was when its message was last sent.
    number: AtomicU64,
    message: Mutex<Whereabouts>,
    failure: OnceLock<Arc<AskCycle>>,
}

/// Where the message of an ask is.
struct Whereabouts {
    /// Who is to answer it.
    of: AnyAddr,
    stage: Stage,
    /// How often it was passed on.
    hops: u32,
    /// Whether the future that holds the actor waits for the answer.
    is_awaited: bool,
}

#[derive(Clone, Copy)]
enum Stage {
    /// On its way to a handler; where, if it stands in a queue by itself.
    Queued(Option<(CownId, Place)>),
    /// A future has the answer that holds an actor.
    HeldBy(Keeper),
    /// Somebody has the answer, and nobody knows when he will give it.
    Loose,
}

/// The actor that a future with the answer holds.
#[derive(Clone, Copy)]
struct Keeper {
    actor: ActorId,
    queue: CownId,
    is_entangled: bool,
}

/// Who has to go on before a wait can end, seen from afar.
pub(super) enum Ahead {
    Nobody,
    Actor(ActorId),
    /// This actor and others.
    Unclear,
}

impl Wait {
    pub(crate) fn new(holder: Arc<Holder>, of: AnyAddr) -> Arc<Self> {
        let message =
            Mutex::new(Whereabouts { of, stage: Stage::Queued(None), hops: 0, is_awaited: false });
        let wait = Self { holder, number: AtomicU64::new(0), message, failure: OnceLock::new() };
        wait.take_number();
        Arc::new(wait)
    }

    pub(crate) fn hops(&self) -> u32 {
        self.message.lock().hops
    }

    /// The message was put into a queue after so many hops, and may have been taken out again.
    pub(crate) fn placed(self: &Arc<Self>, hops: u32, cown: CownId, place: Place) {
        let stands = {
            let mut message = self.message.lock();
            let stands = message.hops == hops && matches!(message.stage, Stage::Queued(_));
            if stands {
                message.stage = Stage::Queued(Some((cown, place)));
            }
            stands
        };
        // Before this nobody could see what it stands behind. (If it was not passed on, it is yet
        // to be awaited.)
        if stands && hops > 0 {
            table::moved(self);
        }
    }

    /// A handler has the message. Returns whether it is still wanted.
    pub(crate) fn begin(&self) -> bool {
        self.message.lock().stage = Stage::Loose;
        self.failure.get().is_none()
    }

    /// A future has the answer that holds an actor.
    pub(crate) fn held_by<A: Actor>(&self, actor: &WeakAddr<A>) {
        let Some(queue) = actor.queue_id() else { return };
        let is_entangled = actor.front().is_entangled();
        let keeper = Keeper { actor: actor.id(), queue, is_entangled };
        self.message.lock().stage = Stage::HeldBy(keeper);
    }

    /// The answer is left to another actor, which gets a message for it.
    pub(crate) fn delegated(self: &Arc<Self>, to: AnyAddr) {
        {
            let mut message = self.message.lock();
            message.hops += 1;
            message.of = to;
            message.stage = Stage::Queued(None);
        }
        self.take_number();
    }

    /// Whether the wait can end only after an actor has gone on, which has been surveyed: it stands in
    /// that actor's queue (whose other actors, if it is a group's, wait with it), or is blocked.
    pub(super) fn is_blocked_by(
        &self,
        queue: Option<CownId>,
        blocked: &HashSet<(CownId, Place)>,
    ) -> bool {
        if self.failure.get().is_some() {
            return false;
        }
        let message = self.message.lock();
        match message.stage {
            Stage::Queued(place) => {
                message.of.queue_id() == queue
                    || place.is_some_and(|place| blocked.contains(&place))
            }
            Stage::HeldBy(keeper) => Some(keeper.queue) == queue,
            Stage::Loose => false,
        }
    }

    /// Who has to go on before the wait can end.
    pub(super) fn ahead(&self) -> Ahead {
        if self.failure.get().is_some() {
            return Ahead::Nobody;
        }
        let message = self.message.lock();
        let (actor, is_entangled) = match message.stage {
            Stage::Queued(_) => (message.of.id(), message.of.is_entangled()),
            Stage::HeldBy(keeper) => (keeper.actor, keeper.is_entangled),
            Stage::Loose => return Ahead::Nobody,
        };
        if is_entangled { Ahead::Unclear } else { Ahead::Actor(actor) }
    }

    /// Who waits.
    pub(super) fn by(&self) -> &AnyAddr {
        &self.holder.actor
    }

    pub(super) fn is_awaited(&self) -> bool {
        self.message.lock().is_awaited && !self.holder.has_ended()
    }

    /// Of all waits, the how-manieth it was when its message was last sent.
    pub(super) fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    /// There will be no answer. (Others may have found another circle that it closes.)
    pub(super) fn fail(&self, why: AskCycle) {
        let _ = self.failure.set(Arc::new(why));
        self.by().alert();
    }

    /// Makes this the wait that has begun last.
    fn take_number(&self) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.number.store(NEXT.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(super) fn describe(&self) -> CycleAsk {
        CycleAsk { by: self.by().clone(), of: self.message.lock().of.clone() }
    }
}

/// An ask's own part of its wait.
pub(crate) struct Waiting {
    wait: Arc<Wait>,
    is_known: bool,
}

impl Waiting {
    pub(crate) fn new(wait: Arc<Wait>) -> Self {
        Self { wait, is_known: false }
    }

    /// Why there will be no answer, if that is known.
    pub(crate) fn failure(&self) -> Option<Arc<AskCycle>> {
        self.wait.failure.get().cloned()
    }

    /// The ask is awaited, and there is no answer yet.
    pub(crate) fn goes_on(&mut self) {
        if holder().is_none_or(|holder| !Arc::ptr_eq(&holder, &self.wait.holder)) {
            // It was handed to somebody else, who holds nobody.
            return self.leave();
        }
        if !std::mem::replace(&mut self.is_known, true) {
            self.wait.message.lock().is_awaited = true;
            table::add(&self.wait);
        }
    }

    fn leave(&mut self) {
        if !std::mem::replace(&mut self.is_known, false) {
            return;
        }
        self.wait.message.lock().is_awaited = false;
        table::remove(&self.wait);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.leave();
    }
}
