//! What the runtime keeps in an actor's context.

use std::collections::VecDeque;
use std::mem::forget;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{Actor, Addr, Context, ContextExtras, HoldRequest, TimeoutAction, WeakAddr};
use crate::attached::Feeds;
use crate::begun::{Begun, BegunByState};
use crate::caught::Caught;
use crate::exit::ExitReason;
use crate::mailbox::{Envelopes, Stash};
use crate::outbox::Outbox;
use crate::signal::Signal;
use crate::timeouts::Timeouts;

/// The extras of a context that is gone; what belongs to the state ends when this is dropped.
pub(crate) struct TakenExtras<A: Actor>(Box<Mutex<ContextExtras<A>>>);

impl<A: Actor> TakenExtras<A> {
    /// Takes the stash.
    pub(crate) fn take_stash(&mut self) -> Envelopes {
        self.0.get_mut().stash.take()
    }
}

impl<A: Actor> Default for ContextExtras<A> {
    fn default() -> Self {
        Self {
            stop: None,
            holds: VecDeque::new(),
            stash: Stash::default(),
            feeds: Feeds::default(),
            timeouts: Timeouts::default(),
            life: 0,
            begun: BegunByState::default(),
            on_runtime_end: None,
            outbox: Outbox::default(),
        }
    }
}

impl<A: Actor> Context<A> {
    /// The context of the actor's `life`th state, from 0.
    pub(crate) fn new(this: WeakAddr<A>, life: u32) -> Self {
        let extras = (life > 0)
            .then(|| Box::new(Mutex::new(ContextExtras { life, ..ContextExtras::default() })));
        Self { this, extras, lent: None }
    }

    pub(crate) fn this(&self) -> &WeakAddr<A> {
        &self.this
    }

    /// The address and the extras.
    pub(crate) fn into_parts(self) -> (WeakAddr<A>, Option<TakenExtras<A>>) {
        (self.this, self.extras.map(TakenExtras))
    }

    /// Lends an address to the next question.
    #[inline]
    pub(crate) fn lend(&mut self, own: Addr<A>) {
        let before = self.lent.replace(own.into_cown());
        debug_assert!(before.is_none(), "one answer is handled at a time");
        // There is nothing to be dropped.
        forget(before);
    }

    /// The address that was lent, unless a question has taken it.
    #[inline]
    pub(crate) fn take_lent(&mut self) -> Option<Addr<A>> {
        self.lent.take().map(Addr::new)
    }

    /// The number of the state that this belongs to; what was begun for another state is void.
    pub(crate) fn life(&mut self) -> u32 {
        self.extras.as_mut().map_or(0, |extras| extras.get_mut().life)
    }

    /// What ends with the state.
    pub(crate) fn begun(&mut self) -> &Arc<Begun> {
        self.extras().begun.get()
    }

    pub(crate) fn extras(&mut self) -> &mut ContextExtras<A> {
        self.extras.get_or_insert_default().get_mut()
    }

    /// Whether there are no extras.
    pub(crate) fn is_bare(&self) -> bool {
        self.extras.is_none()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // The actor runs, so it is there.
        let _ = self.this.signal(signal);
    }

    /// Requests an operation. The interrupt makes it run before the next message.
    pub(crate) fn request(&mut self, note: impl FnOnce(&mut ContextExtras<A>)) {
        note(self.extras());
        self.this.interrupt();
    }

    /// The stash.
    pub(crate) fn stash_mut(&mut self) -> &mut Stash {
        &mut self.extras.get_or_insert_default().get_mut().stash
    }

    pub(crate) fn stash_limit(&self) -> usize {
        self.this.shared().queue().map_or(usize::MAX, |queue| queue.stash)
    }

    /// Takes the messages to unstash, if the running handler has requested that.
    pub(crate) fn take_unstashed(&mut self) -> Option<Envelopes> {
        self.extras.as_mut()?.get_mut().stash.take_wanted()
    }

    /// Takes the stash.
    pub(crate) fn take_stash(&mut self) -> Envelopes {
        self.extras.as_mut().map_or_else(Envelopes::default, |extras| extras.get_mut().stash.take())
    }

    /// The streams that the actor reads.
    pub(crate) fn feeds(&mut self) -> &mut Feeds {
        &mut self.extras().feeds
    }

    /// The timeouts of the actor.
    pub(crate) fn timeouts(&mut self) -> &mut Timeouts<TimeoutAction<A>> {
        &mut self.extras().timeouts
    }

    pub(crate) fn take_stop(&mut self) -> Option<ExitReason> {
        self.extras.as_mut()?.get_mut().stop.take()
    }

    pub(crate) fn take_hold(&mut self) -> Option<HoldRequest<A>> {
        self.extras.as_mut()?.get_mut().holds.pop_front().map(Caught::into_inner)
    }

    /// Whether a stop or a hold is pending, so that messages must wait.
    pub(crate) fn must_pause_messages(&mut self) -> bool {
        let Some(extras) = &mut self.extras else { return false };
        let extras = extras.get_mut();
        extras.stop.is_some() || !extras.holds.is_empty()
    }

    /// Has the end of the runtime left to the actor, if `tell` returns true: then it ends by itself.
    pub(crate) fn on_runtime_end(&mut self, tell: impl Fn() -> bool + Send + 'static) {
        self.extras().on_runtime_end = Some(Box::new(tell));
    }

    /// Tells the actor that its runtime is about to end. Returns whether it ends by itself.
    pub(crate) fn ends_by_itself(&mut self) -> bool {
        let extras = self.extras.as_mut().map(|extras| extras.get_mut());
        extras.and_then(|extras| extras.on_runtime_end.as_ref()).is_some_and(|tell| tell())
    }
}
