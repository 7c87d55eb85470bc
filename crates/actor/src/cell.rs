//! An actor as the state of a cown.

use std::any::{Any, type_name};
use std::mem::needs_drop;
use std::task::Poll;

use coact_core::internals::{Ending, Gate, Interruptible, ThreadBound, UnreachableCown, catch};
use coact_core::{Broken, Cown, WeakCown};

use crate::events::{self, Subject};
use crate::exit::ExitReason;
use crate::hold::Hold;
use crate::intensity::Intensity;
use crate::lifecycle::{
    AnyWeak, Core, Extras, Hook, Managed, PendingOp, Phase, reason_of, refuse_all,
};
use crate::mailbox::{Envelope, Envelopes};
use crate::message::Message;
use crate::reply::{Reply, in_end_for};
use crate::shared_state::SharedState;
use crate::signal::Signal;
use crate::supervision::Supervision;
use crate::traits::MessageTo;
use crate::types::{Actor, Addr, Body, Cell, Context, WeakAddr};

/// Creates a new state for a restart; called where the actor runs.
pub(crate) type Factory<A> = Box<dyn FnMut() -> ThreadBound<A> + Send>;

/// The part of [`Extras`] that depends on the actor's type.
struct Own<A: Actor> {
    factory: Option<Factory<A>>,
    hold: Option<Hold<A>>,
}

impl<A: Actor> Own<A> {
    fn boxed(factory: Option<Factory<A>>) -> Box<dyn Any + Send> {
        Box::new(Self { factory, hold: None })
    }
}

impl<A: Actor> Cell<A> {
    pub(crate) fn new(
        actor: ThreadBound<A>,
        this: WeakCown<Self>,
        factory: Option<Factory<A>>,
        limit: Option<Box<Intensity>>,
    ) -> Self {
        let extras = factory.map(|factory| {
            let own = Some(Own::boxed(Some(factory)));
            Extras { own, limit, ..Extras::default() }
        });
        let context = Context::new(WeakAddr::new(this), 0);
        let body = Some(Body { actor, context });
        Self { body, this: None, core: Core::new(Phase::Starting, extras) }
    }

    /// Creates an actor that its supervisor has not started yet.
    pub(crate) fn supervised(this: WeakCown<Self>, make: Factory<A>) -> Self {
        let (own, supervision) = (Some(Own::boxed(Some(make))), Some(Supervision::default()));
        let extras = Extras { own, supervision, ..Extras::default() };
        let this = Some(WeakAddr::new(this));
        Self { body: None, this, core: Core::new(Phase::Down, Some(extras)) }
    }

    /// Passes a message to the actor.
    pub(crate) fn receive<M>(&mut self, message: M, reply: Reply<M::Reply>)
    where
        M: MessageTo<A>,
    {
        self.receive_inline(message, reply);
    }

    /// Like [`receive`](Self::receive), inlined.
    #[inline(always)]
    pub(crate) fn receive_inline<M>(&mut self, message: M, reply: Reply<M::Reply>)
    where
        M: MessageTo<A>,
    {
        self.core.count_turn();
        match &mut self.body {
            // Its ask has failed.
            _ if !reply.take_up() => drop_unhandled(message),
            Some(body) => message.give(body.actor.get_mut(), reply, &mut body.context),
            None => self.dead_letter(message, reply),
        }
    }

    /// Passes the actor a message that was sent, not asked.
    #[inline]
    pub(crate) fn receive_sent<M>(&mut self, message: M)
    where
        M: MessageTo<A>,
    {
        self.core.count_turn();
        match &mut self.body {
            Some(body) => message.give_sent(body.actor.get_mut(), &mut body.context),
            None => self.dead_letter(message, Reply::unwanted()),
        }
    }

    /// Calls a closure with the actor, if it is alive.
    #[inline]
    pub(crate) fn call(&mut self, work: impl FnOnce(&mut A, &mut Context<A>)) {
        self.core.count_turn();
        if let Some(body) = &mut self.body {
            work(body.actor.get_mut(), &mut body.context);
        }
    }

    /// Like [`call_in`](Self::call_in), with an address of the actor, which its next ask may
    /// take. Otherwise it is dropped in the end, even after a panic: the last one is checked.
    #[inline(always)]
    pub(crate) fn call_with(
        &mut self,
        own: Addr<A>,
        life: u32,
        work: impl FnOnce(&mut A, &mut Context<A>),
    ) {
        struct Lent<'a, A: Actor>(&'a mut Context<A>);
        impl<A: Actor> Drop for Lent<'_, A> {
            #[inline]
            fn drop(&mut self) {
                drop(self.0.take_lent());
            }
        }
        self.core.count_turn();
        if let Some(Body { actor, context }) = &mut self.body
            && context.life() == life
        {
            context.lend(own);
            let lent = Lent(context);
            work(actor.get_mut(), lent.0);
        } else {
            // The closure is dropped first, as after a call.
            drop_unhandled(work);
            drop(own);
        }
    }

    /// Calls a closure with the actor, if it is alive and still in its `life`th state.
    #[inline]
    pub(crate) fn call_in(&mut self, life: u32, work: impl FnOnce(&mut A, &mut Context<A>)) {
        self.call(|actor, context| {
            if context.life() == life {
                work(actor, context);
            } else {
                drop_unhandled(work);
            }
        });
    }

    /// Passes a notification to the actor, unless it is void by now.
    pub(crate) fn receive_in<M: MessageTo<A>>(
        &mut self,
        is_wanted: impl FnOnce(&mut Context<A>) -> bool,
        news: M,
    ) {
        if self.body.as_mut().is_none_or(|body| is_wanted(&mut body.context)) {
            self.receive(news, Reply::unwanted());
        } else {
            drop_unhandled(news);
        }
    }

    /// Calls `inspect` with the actor, if it is alive, and the number of turns; does not count as a
    /// turn.
    pub(crate) fn inspect(&mut self, inspect: impl FnOnce(&mut A, &mut Context<A>, u32)) {
        if let Some(body) = &mut self.body {
            inspect(body.actor.get_mut(), &mut body.context, self.core.turns);
        }
    }

    /// Returns the actor, for a behaviour. The cown of an actor that has ended is closed, and while
    /// a future holds it its gate is shut, so no behaviour runs then.
    pub(crate) fn actor(&self) -> &A {
        self.body.as_ref().expect("behaviours run only while the actor has a state").actor.get()
    }

    pub(crate) fn actor_mut(&mut self) -> &mut A {
        self.core.count_turn();
        let body = self.body.as_mut().expect("behaviours run only while the actor has a state");
        body.actor.get_mut()
    }

    /// Drops a message that arrived after the actor's end, as a dead letter.
    #[cold]
    #[inline(never)]
    fn dead_letter<M: Message>(&mut self, message: M, reply: Reply<M::Reply>) {
        let reason = self.managed().count_dead_letter(type_name::<M>());
        drop(message);
        reply.refuse(&reason);
    }

    /// Returns the cell without its type.
    #[inline]
    fn managed(&mut self) -> &mut dyn Managed {
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
    fn take_body(&mut self) -> Option<Body<A>> {
        let body = self.body.take()?;
        self.this.get_or_insert_with(|| body.context.weak());
        Some(body)
    }

    /// Returns the extras that depend on the type, if there are any.
    fn own(&mut self) -> Option<&mut Own<A>> {
        self.core.extras()?.own.as_mut()?.downcast_mut()
    }

    /// Starts the actor, if it has not started. Returns false if it must not start yet.
    #[inline(always)]
    fn begin(&mut self, shared: &SharedState) -> bool {
        if self.core.phase == Phase::Starting {
            if shared.is_deferred() {
                return false;
            }
            self.core.phase = Phase::Running;
            self.call_hook(|actor, context| actor.started(context));
            events::actor_started(|| self.subject());
        }
        true
    }

    /// Returns whether it runs without signals, extras or pending operations.
    #[inline]
    fn is_plain(&self, shared: &SharedState) -> bool {
        self.core.phase == Phase::Running && !shared.may_have_signals() && self.is_bare()
    }

    /// Like [`is_plain`](Self::is_plain), except that the only signal may be a stop.
    #[inline]
    fn is_plain_but_for_stop(&self, shared: &SharedState) -> bool {
        self.core.phase == Phase::Running && !shared.has_control() && self.is_bare()
    }

    /// Returns whether it has its state, without extras or pending operations.
    #[inline]
    fn is_bare(&self) -> bool {
        let has_extras = |body: &Body<A>| !body.context.is_bare();
        self.core.is_bare() && !self.body.as_ref().is_none_or(has_extras)
    }

    /// Calls a hook directly, with the effect of [`Managed::call`]. A panic fails the actor.
    #[inline(always)]
    fn call_hook(&mut self, hook: impl FnOnce(&mut A, &mut Context<A>)) {
        let Some(Body { actor, context }) = &mut self.body else { return };
        if let Err(why) = catch(|| hook(actor.get_mut(), context)) {
            self.core.fail(&why);
        }
    }

    /// Ends an actor whose last address is gone, and that is [plain](Self::is_plain_but_for_stop).
    fn end_plainly(&mut self, shared: &SharedState, cown: &UnreachableCown<'_, Self>) {
        let reason = if shared.has_stop() { &ExitReason::Shutdown } else { &ExitReason::Normal };
        self.core.phase = Phase::Ended;
        self.call_hook(|actor, context| actor.stopped(reason, context));
        let has_control = shared.has_control();
        let state = if has_control { None } else { self.take_unseen(shared, reason, cown) };
        let Some(actor) = state else {
            // The actor has stopped.
            shared.forget_stop();
            return self.managed().finish_stopped(shared, reason);
        };
        drop_in_end(actor, reason);
        events::actor_stopped(|| Subject::new::<A>(shared.id()), reason);
    }

    /// Takes the state out, if it has no extras, and ends the cown with it, if no address of any
    /// kind is left: then there is nothing to announce.
    fn take_unseen(
        &mut self,
        shared: &SharedState,
        reason: &ExitReason,
        cown: &UnreachableCown<'_, Self>,
    ) -> Option<ThreadBound<A>> {
        if !self.is_bare() {
            return None;
        }
        let Body { actor, context } = self.body.take()?;
        let (this, _) = context.into_parts();
        match this.try_end(cown) {
            Ok(()) => {
                if shared.has_control() {
                    // It arrived after the caller's look, through an address that is gone again.
                    end_unseen(shared, reason);
                } else {
                    cown.skip_drop();
                }
                Some(actor)
            }
            Err(this) => {
                self.body = Some(Body { actor, context: Context::new(this, 0) });
                None
            }
        }
    }

    /// Processes the signals first: no message overtakes one. Unstashed messages come before the
    /// next behaviour, one per turn; like that behaviour, they wait for the other members of the
    /// actor's group.
    #[inline(never)]
    fn process_signals_at_gate(&mut self, shared: &SharedState) -> Gate {
        let this = self.managed();
        if !this.process_signals(shared) || this.waits() {
            Gate::Shut
        } else if this.has_reserved() {
            Gate::Reserved
        } else {
            Gate::Open
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

impl<A: Actor> Managed for Cell<A> {
    fn core(&mut self) -> &mut Core {
        &mut self.core
    }

    fn subject(&self) -> Subject {
        Subject::new::<A>(self.this().id())
    }

    fn address(&self) -> &dyn AnyWeak {
        self.this()
    }

    fn call(&mut self, hook: Hook<'_>) -> Result<(), Broken> {
        let Some(Body { actor, context }) = &mut self.body else { return Ok(()) };
        catch(|| {
            let actor = actor.get_mut();
            match hook {
                Hook::Started => actor.started(context),
                Hook::Restarted(reason) => actor.restarted(reason, context),
                Hook::Stopped(reason) => actor.stopped(reason, context),
            }
        })
    }

    fn give(&mut self, envelope: Box<dyn Envelope>) {
        envelope.deliver(self);
    }

    fn take_pending(&mut self) -> Option<PendingOp> {
        let context = &mut self.body.as_mut()?.context;
        if let Some(reason) = context.take_stop() {
            return Some(PendingOp::Stop(reason));
        }
        if let Some(envelopes) = context.take_unstashed() {
            return Some(PendingOp::Unstash(envelopes));
        }
        let request = context.take_hold()?;
        let hold = Hold::begin(request, self.take_body()?);
        let own = self.core.extras_or_init().own.get_or_insert_with(|| Own::<A>::boxed(None));
        if let Some(own) = own.downcast_mut::<Own<A>>() {
            own.hold = Some(hold);
        }
        Some(PendingOp::Held)
    }

    fn must_pause_messages(&mut self) -> bool {
        self.body.as_mut().is_some_and(|body| body.context.must_pause_messages())
    }

    fn drop_state(&mut self) -> (Envelopes, Result<(), Broken>) {
        let mut body = self.take_body();
        let set_aside = body.as_mut().map(|body| body.context.take_stash());
        (set_aside.unwrap_or_default(), catch(move || drop(body)))
    }

    fn drop_last_state(&mut self, reason: &ExitReason) -> Option<Envelopes> {
        let Body { actor, context } = self.body.take()?;
        let (this, extras) = context.into_parts();
        self.this = Some(this);
        let Some(mut extras) = extras else {
            drop_in_end(actor, reason);
            return None;
        };
        let set_aside = extras.get_mut().stash.take();
        let _ = catch(|| in_end_for(reason, move || drop((actor, extras))));
        Some(set_aside)
    }

    fn is_restartable(&mut self) -> bool {
        self.own().is_some_and(|own| own.factory.is_some())
    }

    fn ends_by_itself(&mut self) -> bool {
        self.body.as_mut().is_some_and(|body| body.context.ends_by_itself())
    }

    fn renew(&mut self, life: u32) -> Result<(), Broken> {
        let make = self.own().and_then(|own| own.factory.as_mut());
        let actor = catch(make.expect("only actors that can be restarted are"))?;
        let context = Context::new(self.this().clone(), life);
        self.body = Some(Body { actor, context });
        Ok(())
    }

    fn poll_hold(&mut self) -> Result<Poll<()>, Broken> {
        match self.own().and_then(|own| own.hold.as_mut()) {
            Some(hold) => catch(|| hold.poll()),
            None => Ok(Poll::Ready(())),
        }
    }

    fn take_back(&mut self) {
        if let Some(hold) = self.own().and_then(|own| own.hold.take()) {
            self.body = hold.take_back();
        }
    }
}

impl<A: Actor> Interruptible for Cell<A> {
    type SharedState = SharedState;

    fn on_interrupt(&mut self, shared: &SharedState) -> Gate {
        if !self.begin(shared) {
            return Gate::Shut;
        }
        if self.is_plain(shared) { Gate::Open } else { self.process_signals_at_gate(shared) }
    }

    /// A stop is left to [`last_handle_gone`](Self::last_handle_gone), where a plain actor ends at
    /// less cost.
    fn on_last_interrupt(&mut self, shared: &SharedState) -> Gate {
        if !self.begin(shared) {
            return Gate::Shut;
        }
        if self.is_plain_but_for_stop(shared) {
            Gate::Open
        } else {
            self.process_signals_at_gate(shared)
        }
    }

    fn take_turn(&mut self, shared: &SharedState) -> Gate {
        self.managed().drain_one_stashed();
        self.process_signals_at_gate(shared)
    }

    fn cancel(&mut self, shared: &SharedState) {
        self.managed().cut_off(shared);
    }

    fn failed(&mut self, _: &SharedState, why: &Broken) {
        // Of several panics before the failure is handled, the first counts.
        self.core.extras_or_init().failure.get_or_insert_with(|| reason_of(why));
    }

    fn end(shared: &SharedState, ending: &Ending) {
        // The caller interrupts the actor after this.
        let _ = shared.push_signal(Signal::RuntimeEnds(ending.clone()));
    }

    fn number(shared: &SharedState) -> u64 {
        shared.id().get()
    }

    /// Handles the loss of the last address. (The pending operations of its last messages have run
    /// before.)
    fn last_handle_gone(&mut self, shared: &SharedState, cown: &UnreachableCown<'_, Self>) {
        if self.is_plain_but_for_stop(shared) {
            return self.end_plainly(shared, cown);
        }
        self.core.leave_supervisor();
        self.managed().end(shared, ExitReason::Normal);
    }

    fn unreachable(last: Cown<Self>) {
        end_unreachable(last);
    }
}

/// Ends an actor whose last address is gone, after the waiting messages.
#[cold]
#[inline(never)]
fn end_unreachable<A: Actor>(last: Cown<Cell<A>>) {
    if last.is_closed() {
        return;
    }
    if last.shared_state().is_suspended() {
        // No address is left to resume it.
        let _ = last.shared_state().push_signal(Signal::Resume);
        last.interrupt();
    }
    // Unless there is an address again by then: the actor can create one, and a weak address can be
    // upgraded.
    last.spawn_last_handle_check();
}

/// Ends what others have begun with an actor that has no address left, and answers its signals.
#[cold]
fn end_unseen(shared: &SharedState, reason: &ExitReason) {
    shared.set_end(reason);
    shared.open_mailbox();
    refuse_all(shared);
}

/// Drops what its actor does not want, or not any more. A panic of its destructor is not one of the actor.
#[cold]
#[inline(never)]
fn drop_unhandled<T>(unhandled: T) {
    let _ = catch(move || drop(unhandled));
}

/// Drops the state of an actor that ends.
#[inline]
fn drop_in_end<A: Actor>(actor: ThreadBound<A>, reason: &ExitReason) {
    if needs_drop::<A>() {
        let _ = catch(|| in_end_for(reason, move || drop(actor)));
    }
}

/// Ends an actor whose cell is dropped before its end, for example with its runtime.
impl<A: Actor> Drop for Cell<A> {
    fn drop(&mut self) {
        if self.core.phase != Phase::Ended {
            let this = self.this().clone();
            self.managed().cut_off(this.shared());
        }
    }
}
