//! A durable actor as an actor: how it starts, and how it takes its commands.

use std::sync::Arc;

use coact_actor::actor::{Actor, ActorId, AskError, Context, ExitReason, Handler, Message, Reply};
use coact_actor::internals::{set_aside, stop_for};
use coact_core::internals::{Readiness, Settling, deciding};

use crate::decide::Decide;
use crate::durable::Durable;
use crate::entity::End;
use crate::event_sourced::EventSourced;

impl<E: EventSourced> Actor for Durable<E> {
    fn started(&mut self, context: &mut Context<Self>) {
        self.is_state_of(context.id());
        let Some(entity) = self.entity() else { return };
        let this = context.weak();
        entity.owned_by(Arc::new(move |reason| stop_for(&this, reason)));
        self.recover();
    }

    fn restarted(&mut self, _: &ExitReason, context: &mut Context<Self>) {
        self.started(context);
    }

    const SETTLES: bool = true;

    fn settling(&self) -> Option<&dyn Settling> {
        Some(self)
    }

    fn settling_mut(&mut self, id: ActorId) -> Option<&mut dyn Settling> {
        self.is_found_at(id);
        Some(self)
    }
}

impl<E: Decide<C>, C: Message> Handler<C> for Durable<E> {
    /// The decision alone: all that calls handlers calls one of those below.
    fn handle(&mut self, command: C, _: &mut Context<Self>) -> C::Reply {
        E::decide(self, command)
    }

    fn handle_sent(&mut self, command: C, context: &mut Context<Self>) {
        self.handle_asked(command, Reply::unwanted(), context);
    }

    fn handle_asked(&mut self, command: C, reply: Reply<C::Reply>, context: &mut Context<Self>) {
        self.is_found_at(context.id());
        self.assert_in_place();
        match self.make_ready_for(true) {
            Readiness::Ready => self.decide(command, reply),
            Readiness::Never(why) => reply.fail(AskError::NotCommitted(why)),
            Readiness::NotYet => wait(command, reply, context),
        }
    }
}

/// Has a command wait, and all that comes behind it, until the state is ready. It comes again then, also to the state that a
/// restart makes.
fn wait<E: Decide<C>, C: Message>(
    command: C,
    reply: Reply<C::Reply>,
    context: &mut Context<Durable<E>>,
) {
    set_aside(context, command, reply);
    context.hold(Reply::unwanted(), |durable, context| {
        Box::pin(async move {
            durable.ready().await;
            context.unstash_all();
        })
    });
}

impl<E: EventSourced> Durable<E> {
    /// Waits until a command can be decided on, or refused.
    async fn ready(&mut self) {
        while matches!(self.make_ready_for(true), Readiness::NotYet) {
            let Some(entity) = self.entity().cloned() else { return };
            entity.changed().await;
        }
    }

    /// Decides on a command. Its answer, and what it sends, leave when it is stored.
    fn decide<C: Message>(&mut self, command: C, reply: Reply<C::Reply>)
    where
        E: Decide<C>,
    {
        let answer = deciding(|| E::decide(self, command));
        self.assert_in_place();
        let (commit, effects) = self.take_decision();
        let Some(entity) = self.entity() else { return reply.send(answer) };
        let then = move |end: &End| match end {
            End::Stored => {
                effects.into_iter().for_each(|effect| effect.run());
                reply.send(answer);
            }
            End::NotStored(why) => reply.fail(AskError::NotCommitted(why.clone())),
            End::Lost => reply.fail(AskError::Cancelled),
        };
        match commit {
            Some((commit, bytes)) => entity.submit(commit, bytes, Box::new(then)),
            None => entity.behind(Box::new(then)),
        }
    }
}
