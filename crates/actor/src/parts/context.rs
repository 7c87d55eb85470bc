//! What the runtime keeps in an actor's context.

use std::collections::VecDeque;
use std::mem::forget;
use std::sync::Arc;

use coact_sync::shim::process::Mutex;

use coact_core::internals::CatchDrop;

use super::{Actor, Addr, Context, HoldRequest, TimeoutAction, TypedExtras, WeakAddr};
use crate::attached_streams::AttachedStreams;
use crate::context_extras::ContextExtras;
use crate::exit::ExitReason;
use crate::mailbox::{Envelopes, Stash};
use crate::owned_work::OwnedWork;
use crate::signal::Signal;
use crate::timeout_slots::ActorTimeouts;
use crate::timer_table::TimerTable;

impl<A: Actor> Default for TypedExtras<A> {
    fn default() -> Self {
        Self { holds: VecDeque::new(), unfinished: None, timeouts: ActorTimeouts::default() }
    }
}

impl<A: Actor> Context<A> {
    /// Creates the context of an incarnation, counted from 0.
    pub(crate) fn new(this: WeakAddr<A>, incarnation: u32) -> Self {
        let extras = (incarnation > 0).then(|| ContextExtras::boxed(incarnation));
        Self { this, extras, lent: None }
    }

    pub(crate) fn this(&self) -> &WeakAddr<A> {
        &self.this
    }

    /// Returns the address and the extras; what belongs to the state ends when these are dropped.
    pub(crate) fn into_parts(self) -> (WeakAddr<A>, Option<Box<Mutex<ContextExtras>>>) {
        (self.this, self.extras)
    }

    /// Lends an address to the next ask.
    #[inline]
    pub(crate) fn lend(&mut self, own: Addr<A>) {
        let before = self.lent.replace(own.into_cown());
        debug_assert!(before.is_none(), "one answer is handled at a time");
        // Saves the code that would drop it.
        forget(before);
    }

    /// Takes back the lent address, unless an ask has taken it.
    #[inline]
    pub(crate) fn take_lent(&mut self) -> Option<Addr<A>> {
        self.lent.take().map(Addr::new)
    }

    /// Returns the number of the incarnation to which this belongs; what was begun for another one
    /// is void.
    pub(crate) fn incarnation(&mut self) -> u32 {
        self.extras.as_mut().map_or(0, |extras| extras.get_mut().incarnation)
    }

    /// Returns what ends with the state.
    pub(crate) fn owned_work(&mut self) -> &Arc<OwnedWork> {
        self.extras().begun.get()
    }

    pub(crate) fn extras(&mut self) -> &mut ContextExtras {
        self.extras.get_or_insert_default().get_mut()
    }

    /// Returns whether there are no extras.
    pub(crate) fn is_bare(&self) -> bool {
        self.extras.is_none()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // The actor is running, so it is alive.
        let _ = self.this.signal(signal);
    }

    /// Returns the extras that depend on the type.
    pub(crate) fn typed(&mut self) -> &mut TypedExtras<A> {
        let typed =
            self.extras().typed.get_or_insert_with(|| Box::new(TypedExtras::<A>::default()));
        typed.downcast_mut().expect("put there by this type's context")
    }

    /// Makes a pending operation run before the next message.
    pub(crate) fn interrupt_self(&self) {
        self.this.interrupt();
    }

    /// Returns the stash.
    pub(crate) fn stash_mut(&mut self) -> &mut Stash {
        &mut self.extras().stash
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

    /// Returns the streams that the actor reads.
    pub(crate) fn feeds(&mut self) -> &mut AttachedStreams {
        &mut self.extras().feeds
    }

    /// Returns the timers that are set by key, to set one.
    pub(crate) fn timers_mut(&mut self) -> &mut TimerTable {
        self.extras().timers.get_or_insert_default()
    }

    /// Returns the timers that are set by key, if there were ever any.
    pub(crate) fn find_timers(&mut self) -> Option<&mut TimerTable> {
        self.extras.as_mut()?.get_mut().timers.as_deref_mut()
    }

    /// Returns the timeouts of the actor.
    pub(crate) fn timeouts(&mut self) -> &mut ActorTimeouts<TimeoutAction<A>> {
        &mut self.typed().timeouts
    }

    pub(crate) fn take_stop(&mut self) -> Option<ExitReason> {
        self.extras.as_mut()?.get_mut().stop.take()
    }

    pub(crate) fn take_hold(&mut self) -> Option<HoldRequest<A>> {
        let extras = self.extras.as_mut()?.get_mut();
        typed_of::<A>(extras)?.holds.pop_front().map(CatchDrop::into_inner)
    }

    /// Returns whether the handler that has just run is to be finished.
    #[inline]
    pub(crate) fn has_unfinished(&mut self) -> bool {
        self.extras.as_mut().is_some_and(|extras| extras.get_mut().has_unfinished)
    }

    /// Takes what finishes the handler that has just run.
    pub(crate) fn take_unfinished(&mut self) -> Option<HoldRequest<A>> {
        let extras = self.extras.as_mut()?.get_mut();
        extras.has_unfinished = false;
        typed_of::<A>(extras)?.unfinished.take().map(CatchDrop::into_inner)
    }

    /// Returns whether a stop or a hold is pending, so that messages must wait.
    pub(crate) fn must_pause_messages(&mut self) -> bool {
        let Some(extras) = &mut self.extras else { return false };
        let extras = extras.get_mut();
        let is_held =
            |typed: &mut TypedExtras<A>| !typed.holds.is_empty() || typed.unfinished.is_some();
        extras.stop.is_some() || typed_of::<A>(extras).is_some_and(is_held)
    }

    /// Leaves the end of the runtime to the actor, if `tell` returns true: then the actor ends
    /// itself.
    pub(crate) fn on_runtime_end(&mut self, tell: impl Fn() -> bool + Send + 'static) {
        self.extras().on_runtime_end = Some(Box::new(tell));
    }

    /// Notifies the actor that its runtime is about to end. Returns whether it ends itself.
    pub(crate) fn ends_by_itself(&mut self) -> bool {
        let extras = self.extras.as_mut().map(|extras| extras.get_mut());
        extras.and_then(|extras| extras.on_runtime_end.as_ref()).is_some_and(|tell| tell())
    }
}

/// The extras that depend on the type, if there are any.
fn typed_of<A: Actor>(extras: &mut ContextExtras) -> Option<&mut TypedExtras<A>> {
    extras.typed.as_mut()?.downcast_mut()
}
