//! What a crate needs whose actors have an order of messages of their own, or a context around this
//! one.

use std::any::TypeId;
use std::future::poll_fn;
use std::mem::swap;
use std::pin::Pin;
use std::time::Duration;

use coact_core::behaviour::NotCommitted;
use coact_core::internals::CatchDrop;
use coact_core::runtime::RuntimeHandle;
use coact_core::time::Timer;

use crate::address::envelope;
use crate::ask::Ask;
use crate::cycle::HeldActorGuard;
use crate::exit::ExitReason;
use crate::handler::MessageTo;
use crate::holding_future;
use crate::intensity::RestartIntensity;
use crate::mailbox::drop_for_room;
use crate::parts::{Actor, Addr, Context, HeldFuture, WeakAddr};
use crate::reply::{self, Reply};
use crate::send_error::AskError;
use crate::signal::Signal;
use crate::spawn::Spawn;

/// Returns the actor's address of itself.
#[inline]
pub fn own_address<A: Actor>(context: &Context<A>) -> &WeakAddr<A> {
    context.this()
}

/// Returns a context with the address alone, to be exchanged with the real one for a while.
pub fn twin_of<A: Actor>(context: &Context<A>) -> Context<A> {
    Context::new(context.weak(), 0)
}

/// Exchanges a context with its twin, unless that could not be seen: if neither has more than the
/// address.
#[inline]
pub fn exchange_with_twin<A: Actor>(context: &mut Context<A>, twin: &mut Context<A>) {
    let has_more = |context: &Context<A>| context.extras.is_some() || context.lent.is_some();
    if has_more(context) || has_more(twin) {
        swap(context, twin);
    }
}

/// Says that the state may have a [place](Actor::place) from now on.
pub fn note_place<A: Actor>(context: &Context<A>) {
    context.this().0.set_placed();
}

/// Stashes a message, whatever the limit of the stash.
pub fn set_aside<A, M>(context: &mut Context<A>, message: M, reply: Reply<M::Reply>)
where
    A: Actor,
    M: MessageTo<A>,
{
    // It will not be used before the actor goes on.
    note_kept(&reply, context.this(), true);
    context.stash_mut().aside.push_back(envelope::<A, M>(message, reply));
}

/// Has the actor handle the message next, before all that waits and the stash; signals come before
/// it. A state that ends first takes it along.
pub fn handle_next<A, M>(context: &mut Context<A>, message: M)
where
    A: Actor,
    M: MessageTo<A, Reply = ()>,
{
    let envelope = envelope::<A, M>(message, Reply::unwanted());
    context.stash_mut().next.push_back(envelope);
    context.interrupt_self();
}

/// Delivers the answer of an ask to the actor, which the ask does not keep alive, unless it has
/// another state by then.
pub fn on_answer_weakly<A, R>(
    context: &mut Context<A>,
    ask: Ask<R>,
    then: impl FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
) where
    A: Actor,
    R: Send + 'static,
{
    let (to, incarnation) = (context.weak(), context.incarnation());
    drop(ask.then((), move |(), answer| {
        let Some(actor) = to.upgrade() else { return };
        actor.run_with_actor(move |actor, context| {
            if context.incarnation() == incarnation {
                then(actor, answer, context);
            }
        });
    }));
}

/// An answer for which an actor is to be held: see [`ask_held`].
pub struct HeldAsk<R: Send + 'static> {
    ask: Ask<R>,
    /// The actor, on whose behalf it is awaited, so that circles are found.
    holding: HeldActorGuard,
}

/// Asks at once, for an answer that the actor is held for [later](hold_for).
pub fn ask_held<A, B, M>(
    context: &Context<A>,
    of: &Addr<B>,
    message: M,
    timeout: Duration,
) -> HeldAsk<M::Reply>
where
    A: Actor,
    B: Actor,
    M: MessageTo<B>,
{
    let holding = HeldActorGuard::new(context.weak().to_any());
    let ask = holding.polls(|| of.ask(message).timeout(timeout));
    HeldAsk { ask, holding }
}

/// Holds the actor, after the current handler, until the answer is there, and gives it to the
/// closure. See [`Context::hold`].
pub fn hold_for<A, R>(
    context: &mut Context<A>,
    asked: HeldAsk<R>,
    then: impl FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
) where
    A: Actor + Send,
    R: Send + 'static,
{
    context.hold(Reply::unwanted(), move |actor, context| {
        Box::pin(async move {
            let HeldAsk { mut ask, holding } = asked;
            let answer = poll_fn(|waker| holding.polls(|| Pin::new(&mut ask).poll(waker))).await;
            drop((ask, holding));
            then(actor, answer, context);
        })
    });
}

/// Returns the reason for which an actor ends whose parts are dropped, or that prepares for it.
#[must_use]
pub fn end_reason() -> Option<ExitReason> {
    reply::end_reason()
}

/// Whether the reply is to an ask; a message that was sent comes with one, too.
#[must_use]
pub fn is_of_ask<R: Send + 'static>(reply: &Reply<R>) -> bool {
    reply.is_of_ask()
}

/// Says whether the reply lies with an actor that will not use it before it has gone on: so an ask
/// that this actor is held for closes a circle with it.
pub fn note_kept<R: Send + 'static>(reply: &Reply<R>, by: &WeakAddr<impl Actor>, is_kept: bool) {
    if is_kept {
        reply.held_by(|| by.to_any());
    } else {
        reply.released();
    }
}

/// Calls a closure with the actor after a delay, unless it has ended or has another state by then.
/// No bound of the mailbox concerns it, and it does not count as a message.
pub fn call_later<A: Actor>(
    context: &mut Context<A>,
    delay: Duration,
    call: impl FnOnce(&mut A, &mut Context<A>) + Send + 'static,
) -> Timer {
    let (to, incarnation) = (context.weak(), context.incarnation());
    context.owned_work().timer(|place| {
        RuntimeHandle::current().after(delay, (), move |()| {
            drop(place);
            let Some(actor) = to.upgrade() else { return };
            actor.inspect(move |actor, context, _| {
                if context.incarnation() == incarnation {
                    call(actor, context);
                }
            });
        })
    })
}

/// Has a future finish the handler that is running, on some other thread for instance. Until it has
/// ended, the handler has not: signals wait as well. One a handler.
pub fn finish_handler<A, F>(context: &mut Context<A>, body: F)
where
    A: Actor + Send,
    F: for<'a> FnOnce(&'a mut A, &'a mut Context<A>) -> HeldFuture<'a, ()> + Send + 'static,
{
    let request = holding_future::request(Reply::unwanted(), body);
    context.extras().has_unfinished = true;
    context.typed().unfinished = Some(CatchDrop::new(request));
    context.interrupt_self();
}

/// Has an actor restart itself after failures, unless there are more of them than this in that
/// time.
pub fn restarting_itself<A: Actor>(spawn: Spawn<A>, most: u32, within: Duration) -> Spawn<A> {
    spawn.restarts_itself(RestartIntensity::new(most, within))
}

/// Stops an actor for a reason of its own, after what it is doing and before all that waits. Asks
/// that wait, or come later, fail with [`AskError::NotCommitted`].
pub fn stop_refusing<A: Actor>(actor: &WeakAddr<A>, reason: ExitReason, why: NotCommitted) {
    actor.shared().set_ask_refusal(reason.clone(), why);
    let _ = actor.signal(Signal::Stop(reason));
}

/// Calls an actor's [`on_interrupt`](Actor::on_interrupt) before anything else sees its state.
pub fn interrupt_actor<A: Actor>(actor: &WeakAddr<A>) {
    let _ = actor.signal(Signal::Interrupt);
}

/// Calls a closure with the actor behind the messages that wait, unless it has ended by then. It
/// does not count as a message.
pub fn call_behind<A: Actor>(
    context: &Context<A>,
    call: impl FnOnce(&mut A, &mut Context<A>) + Send + 'static,
) {
    context.address().inspect(move |actor, context, _| call(actor, context));
}

/// The same from elsewhere. No bound of the mailbox concerns it.
pub fn call_with<A: Actor>(
    actor: &Addr<A>,
    call: impl FnOnce(&mut A, &mut Context<A>) + Send + 'static,
) {
    actor.inspect(move |actor, context, _| call(actor, context));
}

/// Returns how many messages like this one the actor may keep unhandled, if the oldest of them is
/// dropped for more.
pub fn limit_of_kept<A: Actor, M: MessageTo<A>>(context: &Context<A>) -> Option<usize> {
    let queue = context.this().shared().queue()?;
    queue.lanes[queue.lane_of(TypeId::of::<M>())].drops_oldest()
}

/// Drops a message that the actor has kept, because there is no room for more.
pub fn drop_kept<A, M>(context: &Context<A>, message: M, reply: Reply<M::Reply>)
where
    A: Actor,
    M: MessageTo<A>,
{
    if let Some(queue) = context.this().shared().queue() {
        queue.lanes[queue.lane_of(TypeId::of::<M>())].dropped.increment();
    }
    drop_for_room::<A, M>(RuntimeHandle::current(), context.id(), message, reply);
}
