//! A durable actor as an actor: how it starts, and how it takes its commands.

use std::any::Any;

use coact_actor::actor::{
    Actor, ActorId, AskError, Context, ExitReason, Handler, Message, Reply, WeakAddr,
};
use coact_actor::internals::{interrupt_actor, set_aside, stop_refusing};
use coact_core::behaviour::NotCommitted;
use coact_core::internals::{CommitParticipant, Readiness, deciding};
use coact_persist::NoteKey;

use crate::decide::Decide;
use crate::durable::Durable;
use crate::event_sourced::EventSourced;
use crate::idempotency::KnownAnswer;
use crate::pipeline::OwningActor;
use crate::pipeline::commit_outcome::CommitOutcome;

impl<E: EventSourced> OwningActor for WeakAddr<Durable<E>> {
    fn stop(&self, reason: ExitReason, why: NotCommitted) {
        stop_refusing(self, reason, why);
    }

    fn interrupt_to_recover(&self) {
        interrupt_actor(self);
    }

    fn address(&self) -> Box<dyn Any + Send> {
        Box::new(self.clone())
    }
}

impl<E: EventSourced> Actor for Durable<E> {
    fn started(&mut self, context: &mut Context<Self>) {
        self.begin(context.id(), context.weak());
    }

    fn restarted(&mut self, _: &ExitReason, context: &mut Context<Self>) {
        self.started(context);
    }

    fn on_interrupt(&mut self, _: &mut Context<Self>) {
        let _ = self.recover_if_undone();
    }

    fn may_end(&mut self) -> bool {
        self.retire()
    }

    const COMMITS: bool = true;

    fn commit_participant(&self) -> Option<&dyn CommitParticipant> {
        Some(self)
    }

    fn commit_participant_mut(&mut self, id: ActorId) -> Option<&mut dyn CommitParticipant> {
        self.set_current_actor(id);
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
        self.set_current_actor(context.id());
        self.assert_sound();
        match self.make_ready_for(true) {
            Readiness::Ready => match E::lookup(&command) {
                None => decide(self, command, reply, context),
                Some(lookup) => match self.answer_of(&lookup) {
                    KnownAnswer::IsKnown => decide(self, command, reply, context),
                    KnownAnswer::Unknown(why) => reply.fail(AskError::NotCommitted(why)),
                    KnownAnswer::NotYet => look_up(lookup.key, command, reply, context),
                },
            },
            Readiness::Never(why) => reply.fail(AskError::NotCommitted(why)),
            Readiness::NotYet => wait(command, reply, context),
        }
    }
}

/// Makes a command wait, and all that comes behind it, until the state is ready. It comes again
/// then, also to the state that a restart makes.
fn wait<E: Decide<C>, C: Message>(
    command: C,
    reply: Reply<C::Reply>,
    context: &mut Context<Durable<E>>,
) {
    set_aside(context, command, reply);
    context.hold(Reply::unwanted(), |durable, context| {
        Box::pin(async move {
            while matches!(durable.make_ready_for(true), Readiness::NotYet) {
                let Some(pipeline) = durable.pipeline().cloned() else { break };
                pipeline.changed().await;
            }
            context.unstash_all();
        })
    });
}

/// Makes a command wait, and all that comes behind it, until it is known what was answered to its
/// key before.
fn look_up<E: Decide<C>, C: Message>(
    key: NoteKey,
    command: C,
    reply: Reply<C::Reply>,
    context: &mut Context<Durable<E>>,
) {
    set_aside(context, command, reply);
    context.hold(Reply::unwanted(), |durable, context| {
        Box::pin(async move {
            durable.look_up(key).await;
            context.unstash_all();
        })
    });
}

/// Decides on a command. Its answer, and what it sends, leave when it is stored.
fn decide<E: Decide<C>, C: Message>(
    durable: &mut Durable<E>,
    command: C,
    reply: Reply<C::Reply>,
    context: &mut Context<Durable<E>>,
) {
    let answer = deciding(|| E::decide(durable, command));
    // It may be another one by now.
    durable.set_current_actor(context.id());
    durable.assert_sound();
    let (commit, effects) = durable.take_decision();
    let (Some(pipeline), Some(ticket)) = (durable.pipeline(), durable.ticket()) else { return };
    let memory = commit.as_ref().map(|(commit, _)| commit.memory());
    let post_commit = Box::new(move |outcome: &CommitOutcome| {
        drop(memory);
        match outcome {
            CommitOutcome::Stored(position) => {
                effects.into_iter().for_each(|effect| effect.run(*position));
                reply.send(answer);
            }
            CommitOutcome::NotStored(why) => reply.fail(AskError::NotCommitted(why.clone())),
            CommitOutcome::Lost => reply.fail(AskError::Cancelled),
        }
    });
    match commit {
        Some(commit) => pipeline.submit(commit, ticket, post_commit),
        None => pipeline.submit_reader(post_commit),
    }
}
