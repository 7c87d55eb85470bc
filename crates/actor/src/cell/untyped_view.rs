//! The cell without its type, for signals and supervision.

use std::task::Poll;

use coact_core::Broken;
use coact_core::internals::{catch, drop_quietly, goes_on_with};

use super::drop_in_end;
use crate::events::EventSubject;
use crate::exit::ExitReason;
use crate::lifecycle::{AnyWeak, CellCore, LifecycleHook, PendingOp, TypedSteps};
use crate::mailbox::{Envelope, Envelopes};
use crate::parts::{Actor, ActorAndContext, ActorCell, Context};
use crate::reply::in_end_for;

impl<A: Actor> TypedSteps for ActorCell<A> {
    fn core(&mut self) -> &mut CellCore {
        &mut self.core
    }

    fn subject(&self) -> EventSubject {
        EventSubject::new::<A>(self.this().id())
    }

    fn address(&self) -> &dyn AnyWeak {
        self.this()
    }

    fn call(&mut self, hook: LifecycleHook<'_>) -> Result<(), Broken> {
        let Some(ActorAndContext { actor, context }) = &mut self.body else { return Ok(()) };
        catch(|| {
            let actor = actor.get_mut();
            match hook {
                LifecycleHook::Started => actor.started(context),
                LifecycleHook::Restarted(reason) => actor.restarted(reason, context),
                LifecycleHook::Stopped(reason) => actor.stopped(reason, context),
                LifecycleHook::Interrupt => actor.on_interrupt(context),
            }
        })
    }

    fn give(&mut self, envelope: Box<dyn Envelope>) {
        // The task began with what made the actor look at its stash.
        goes_on_with(envelope.name());
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
        self.begin_hold(request).then_some(PendingOp::Held)
    }

    fn begin_unfinished(&mut self) -> bool {
        let Some(body) = &mut self.body else { return false };
        if !body.context.has_unfinished() {
            return false;
        }
        let request = body.context.take_unfinished();
        request.is_some_and(|request| self.begin_hold(request))
    }

    fn prepare_end(&mut self) -> bool {
        let Some(ActorAndContext { actor, context }) = &mut self.body else { return false };
        actor.is_within_reach() && catch(|| actor.get_mut().prepare_end(context)) == Ok(true)
    }

    fn must_pause_messages(&mut self) -> bool {
        self.body.as_mut().is_some_and(|body| body.context.must_pause_messages())
    }

    fn drop_state(&mut self) -> (Envelopes, Result<(), Broken>) {
        self.give_back();
        let mut body = self.take_body();
        let set_aside = body.as_mut().map(|body| body.context.take_stash());
        (set_aside.unwrap_or_default(), catch(move || drop(body)))
    }

    fn drop_last_state(&mut self, reason: &ExitReason) -> Option<Envelopes> {
        self.give_back();
        let ActorAndContext { actor, context } = self.body.take()?;
        let (this, extras) = context.into_parts();
        self.this = Some(this);
        let Some(mut extras) = extras else {
            drop_in_end(actor, reason);
            return None;
        };
        let set_aside = extras.get_mut().stash.take();
        drop_quietly(|| in_end_for(reason, move || drop((actor, extras))));
        Some(set_aside)
    }

    fn is_restartable(&mut self) -> bool {
        self.own().is_some_and(|own| own.factory.is_some())
    }

    fn ends_by_itself(&mut self) -> bool {
        self.body.as_mut().is_some_and(|body| body.context.ends_by_itself())
    }

    fn renew(&mut self, incarnation: u32) -> Result<(), Broken> {
        let make = self.own().and_then(|own| own.factory.as_mut());
        let actor = catch(make.expect("only actors that can be restarted are"))?;
        let context = Context::new(self.this().clone(), incarnation);
        self.body = Some(ActorAndContext { actor, context });
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
