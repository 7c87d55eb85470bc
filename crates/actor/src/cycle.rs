//! Asks that could never be answered: actors that are held while they wait for one another.
//!
//! An actor that [holds](crate::Context::hold) itself while it awaits an answer lets everything
//! else wait: messages to it, behaviours over it, and whatever stands behind those on other actors.
//! If the one that is to answer is among them, all of them wait for ever. Such a circle is closed
//! by an ask (or by an answer that is left to another actor), so that is when it is looked for:
//!
//! 1. An ask that is first awaited while its actor is held becomes a [`Wait`]: who waits, and where
//!    the message is (in whose queue, or with whom the answer lies).
//! 2. When the actor is parked, a [`Search`] begins with it: which of the waits can end only after it
//!    has gone on? Those whose message it has, those whose answer lies with it, and those whose
//!    message stands behind a behaviour that needs it: the core's [`survey`](coact_core::Survey)
//!    tells. Then the same for each actor that waits so, until the ask is found that began it, or
//!    nothing more is.
//! 3. If it is found, the ask on the circle fails that was made last: with the circle, by name.
//!
//! What is found is certain: while an actor is looked at it stays parked, so nothing on the circle
//! moves. Asks of actors that are not held cost nothing of this.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use coact_core::{CownId, Place, Principal, after, on_behalf_of, principal, when};
use parking_lot::Mutex;

use crate::once::OnceLock;
use crate::{ActorId, AnyAddr};

/// How many behaviours that wait are looked at right away. If there are more, a full search is made
/// a little later, unless the answer has come by then.
const AT_ONCE: usize = 1_000;

/// When the search is made again for an actor that was just being attended to.
const AGAIN: Duration = Duration::from_millis(1);

/// When a search without limit is made.
const IN_FULL: Duration = Duration::from_millis(10);

/// An actor while one future holds it: on its behalf the future is polled.
pub(crate) struct Holder {
    actor: AnyAddr,
    has_ended: AtomicBool,
}

/// The future's part of it; the actor is let go when this is dropped.
pub(crate) struct Holding(Principal, Arc<Holder>);

impl Holding {
    pub(crate) fn new(actor: AnyAddr) -> Self {
        let holder = Arc::new(Holder { actor, has_ended: AtomicBool::new(false) });
        Self(Arc::clone(&holder) as Principal, holder)
    }

    /// Calls `poll` as a part of the future that holds the actor.
    pub(crate) fn polls<R>(&self, poll: impl FnOnce() -> R) -> R {
        on_behalf_of(&self.0, poll)
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        // Whoever searches looks when he has parked the actor, and thus before this or after it.
        self.1.has_ended.store(true, Ordering::Relaxed);
    }
}

/// The actor that is held by what runs now, if it is.
#[inline]
pub(crate) fn holder() -> Option<Arc<Holder>> {
    principal()?.downcast().ok()
}

/// Asks that wait for one another in a circle: none of them could ever be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskCycle {
    /// The asks, beginning with the one that has closed the circle and has failed. Each can be
    /// answered only after the one that asked the next has gone on.
    pub asks: Vec<CycleAsk>,
}

/// One ask of an [`AskCycle`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CycleAsk {
    /// Who is held until it is answered.
    pub by: AnyAddr,
    /// Who is to answer it.
    pub of: AnyAddr,
}

impl fmt::Display for AskCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, CycleAsk { by, of }) in self.asks.iter().enumerate() {
            let next = &self.asks[(index + 1) % self.asks.len()].by;
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{by:?} waits for {of:?}")?;
            if of != next {
                write!(f, " (which stands behind a behaviour that needs {next:?})")?;
            }
        }
        Ok(())
    }
}

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
    /// A future has the answer that holds the actor of this queue.
    HeldBy(CownId),
    /// Somebody has the answer, and nobody knows when he will give it.
    Loose,
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
            search_soon(self);
        }
    }

    /// A handler has the message. Returns whether it is still wanted.
    pub(crate) fn begin(&self) -> bool {
        self.message.lock().stage = Stage::Loose;
        self.failure.get().is_none()
    }

    /// A future has the answer that holds an actor.
    pub(crate) fn held_by(&self, queue: CownId) {
        self.message.lock().stage = Stage::HeldBy(queue);
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
    fn is_blocked_by(&self, queue: Option<CownId>, blocked: &HashSet<(CownId, Place)>) -> bool {
        if self.failure.get().is_some() {
            return false;
        }
        let message = self.message.lock();
        match message.stage {
            Stage::Queued(place) => {
                message.of.queue_id() == queue
                    || place.is_some_and(|place| blocked.contains(&place))
            }
            Stage::HeldBy(holder) => Some(holder) == queue,
            Stage::Loose => false,
        }
    }

    /// Who waits.
    fn by(&self) -> &AnyAddr {
        &self.holder.actor
    }

    fn is_awaited(&self) -> bool {
        self.message.lock().is_awaited && !self.holder.has_ended.load(Ordering::Relaxed)
    }

    /// Makes this the wait that has begun last.
    fn take_number(&self) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.number.store(NEXT.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    fn describe(&self) -> CycleAsk {
        CycleAsk { by: self.by().clone(), of: self.message.lock().of.clone() }
    }
}

/// All waits that go on.
static WAITS: Mutex<Vec<Arc<Wait>>> = Mutex::new(Vec::new());

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
            WAITS.lock().push(Arc::clone(&self.wait));
            search_soon(&self.wait);
        }
    }

    fn leave(&mut self) {
        if !std::mem::replace(&mut self.is_known, false) {
            return;
        }
        self.wait.message.lock().is_awaited = false;
        let mut waits = WAITS.lock();
        if let Some(index) = waits.iter().position(|wait| Arc::ptr_eq(wait, &self.wait)) {
            waits.swap_remove(index);
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Has the search made once the caller has come to an end, so that its actor is parked.
fn search_soon(wait: &Arc<Wait>) {
    let wait = Arc::clone(wait);
    when((), move |()| search(&wait, AT_ONCE));
}

fn search_later(wait: &Arc<Wait>, delay: Duration, limit: usize) {
    let wait = Arc::clone(wait);
    after(delay, (), move |()| search(&wait, limit));
}

/// Looks for a circle that an ask is part of; if there is one, the ask fails that has closed it.
fn search(wait: &Arc<Wait>, limit: usize) {
    let mut search =
        Search { goal: wait, limit, seen: HashSet::new(), circle: Vec::new(), gap: None };
    // Others may begin and end waits meanwhile; whoever is parked does not.
    let waits = WAITS.lock().clone();
    if search.explore(wait, &waits) {
        let failed = break_up(search.circle);
        if !Arc::ptr_eq(&failed, wait) {
            // Another circle may go through this one.
            search_soon(wait);
        }
    } else if let Some((delay, limit)) = search.gap {
        search_later(wait, delay, limit);
    }
}

/// Fails the ask that has closed a circle: the one that has begun last. Returns it.
fn break_up(mut circle: Vec<Arc<Wait>>) -> Arc<Wait> {
    let number = |index: &usize| circle[*index].number.load(Ordering::Relaxed);
    let last = (0..circle.len()).max_by_key(number).unwrap_or(0);
    circle.rotate_left(last);
    let asks = circle.iter().map(|wait| wait.describe()).collect();
    // It may have been found from several asks.
    let _ = circle[0].failure.set(Arc::new(AskCycle { asks }));
    circle[0].by().alert();
    circle.swap_remove(0)
}

/// A search from one actor to those that cannot go on before it, and so forth.
struct Search<'a> {
    goal: &'a Arc<Wait>,
    limit: usize,
    seen: HashSet<ActorId>,
    /// The waits on the circle, once it is found.
    circle: Vec<Arc<Wait>>,
    /// Something could not be looked at: when to do so, and to which limit.
    gap: Option<(Duration, usize)>,
}

impl Search<'_> {
    /// Whether the goal is among the waits that can end only after `via` has ended.
    fn explore(&mut self, via: &Wait, waits: &[Arc<Wait>]) -> bool {
        let actor = via.by();
        if self.seen.contains(&actor.id()) || !via.is_awaited() {
            return false;
        }
        let mut found = false;
        // The actors before this one on the way stay parked meanwhile.
        let parked = actor.survey(self.limit, &mut |survey| {
            if !via.is_awaited() {
                // It had gone on before it was parked.
                return;
            }
            self.seen.insert(actor.id());
            if !survey.is_complete {
                self.gap.get_or_insert((IN_FULL, usize::MAX));
            }
            let blocked = survey.blocked.into_iter().collect();
            found = waits.iter().any(|wait| {
                let is_next = wait.is_blocked_by(actor.queue_id(), &blocked)
                    && (Arc::ptr_eq(wait, self.goal) || self.explore(wait, waits));
                if is_next {
                    self.circle.push(Arc::clone(wait));
                }
                is_next
            });
        });
        if !parked {
            self.gap = Some((AGAIN, self.limit));
        }
        found
    }
}
