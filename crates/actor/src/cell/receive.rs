//! What comes to an actor, and what a behaviour does with it.

use std::any::type_name;

use coact_core::internals::drop_quietly;

use crate::events::drop_undelivered;
use crate::handler::MessageTo;
use crate::message::Message;
use crate::parts::{Actor, ActorAndContext, ActorCell, Addr, Context};
use crate::reply::Reply;

impl<A: Actor> ActorCell<A> {
    /// Passes a message to the actor. (Not inlined: several ways that take longer than this lead
    /// here.)
    #[inline(never)]
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
        incarnation: u32,
        work: impl FnOnce(&mut A, &mut Context<A>),
    ) {
        struct LentAddress<'a, A: Actor>(&'a mut Context<A>);
        impl<A: Actor> Drop for LentAddress<'_, A> {
            #[inline]
            fn drop(&mut self) {
                drop(self.0.take_lent());
            }
        }
        self.core.count_turn();
        if let Some(ActorAndContext { actor, context }) = &mut self.body
            && context.incarnation() == incarnation
        {
            context.lend(own);
            let lent = LentAddress(context);
            work(actor.get_mut(), lent.0);
        } else {
            // The closure is dropped first, as after a call.
            drop_unhandled(work);
            drop(own);
        }
    }

    /// Calls a closure with the actor, if it is alive and still in this incarnation.
    #[inline]
    pub(crate) fn call_in(&mut self, incarnation: u32, work: impl FnOnce(&mut A, &mut Context<A>)) {
        self.call(|actor, context| {
            if context.incarnation() == incarnation {
                work(actor, context);
            } else {
                drop_unhandled(work);
            }
        });
    }

    /// Passes a message to the actor, unless it is in another incarnation: then the message is
    /// returned.
    pub(crate) fn receive_in<M: MessageTo<A>>(
        &mut self,
        incarnation: u32,
        message: M,
    ) -> Result<(), M> {
        let is_in = |body: &mut ActorAndContext<A>| body.context.incarnation() == incarnation;
        if !self.body.as_mut().is_none_or(is_in) {
            return Err(message);
        }
        self.receive(message, Reply::unwanted());
        Ok(())
    }

    /// Passes the actor a message that a timer makes now; `None` if the timer is void.
    pub(crate) fn receive_tick<M: MessageTo<A>>(
        &mut self,
        take: impl FnOnce(&mut Context<A>) -> Option<M>,
        reply: Reply<M::Reply>,
    ) {
        let message = self.body.as_mut().and_then(|body| take(&mut body.context));
        if let Some(message) = message {
            self.receive(message, reply);
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
        drop_undelivered(self.managed().subject(), message, &reason);
        reply.refuse_with(|| self.shared().ask_error(&reason));
    }
}

/// Drops what its actor does not want, or not any more. A panic of its destructor is not one of the
/// actor.
#[cold]
#[inline(never)]
pub(crate) fn drop_unhandled<T>(unhandled: T) {
    drop_quietly(move || drop(unhandled));
}
