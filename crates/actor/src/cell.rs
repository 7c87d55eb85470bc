//! An actor as the state of a cown: everything that happens to it happens here.

use std::sync::Arc;
use std::task::Poll;

use coact_core::{Anchored, Attended, Broken, Door, WeakCown, catch};
use parking_lot::Mutex;

use crate::directive::Directive;
use crate::front::Front;
use crate::hold::Hold;
use crate::life::Ties;
use crate::{Actor, ActorId, Context, ExitReason, Exited, Message, MessageTo, Reply, WeakAddr};

/// The state of an actor's cown.
pub struct Cell<A: Actor> {
    this: WeakAddr<A>,
    /// `None` while a future holds the actor, and once it has ended.
    body: Option<Body<A>>,
    /// What few actors have.
    rest: Option<Box<Mutex<Rest<A>>>>,
    phase: Phase,
}

/// The actor and what its handlers get beside it: they move together.
pub(crate) struct Body<A: Actor> {
    pub(crate) actor: Anchored<A>,
    pub(crate) context: Context<A>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// [`Actor::started`] is yet to be called.
    Starting,
    Running,
    Ended,
}

/// Makes a new state for a restart; it is called where the actor runs.
pub(crate) type Factory<A> = Box<dyn FnMut() -> Anchored<A> + Send>;

struct Rest<A: Actor> {
    ties: Ties,
    factory: Option<Factory<A>>,
    hold: Option<Hold<A>>,
    suspended: bool,
    /// The actor has panicked, and nothing was done about it yet.
    failure: Option<ExitReason>,
}

impl<A: Actor> Default for Rest<A> {
    fn default() -> Self {
        Self { ties: Ties::default(), factory: None, hold: None, suspended: false, failure: None }
    }
}

impl<A: Actor> Cell<A> {
    pub(crate) fn new(
        actor: Anchored<A>,
        this: WeakCown<Self>,
        factory: Option<Factory<A>>,
    ) -> Self {
        let rest = factory.map(|factory| {
            Box::new(Mutex::new(Rest { factory: Some(factory), ..Rest::default() }))
        });
        let this = WeakAddr::new(this);
        let context = Context::new(this.clone());
        Self { body: Some(Body { actor, context }), rest, phase: Phase::Starting, this }
    }

    /// Gives a message to the actor.
    #[inline]
    pub(crate) fn receive<M>(&mut self, message: M, reply: Reply<M::Reply>)
    where
        M: MessageTo<A>,
    {
        match &mut self.body {
            Some(body) => message.give(body.actor.get_mut(), reply, &mut body.context),
            None => self.bury(message, reply),
        }
    }

    /// Calls something with the actor, if it lives.
    #[inline]
    pub(crate) fn call(&mut self, work: impl FnOnce(&mut A, &mut Context<A>)) {
        if let Some(body) = &mut self.body {
            work(body.actor.get_mut(), &mut body.context);
        }
    }

    /// The actor, for a behaviour. The cown of one that has ended is closed, and while it is held
    /// its door is shut, so no behaviour comes then.
    pub(crate) fn actor(&self) -> &A {
        self.body.as_ref().expect("behaviours come only while the actor is there").actor.get()
    }

    pub(crate) fn actor_mut(&mut self) -> &mut A {
        let body = self.body.as_mut().expect("behaviours come only while the actor is there");
        body.actor.get_mut()
    }

    /// A message has come to an actor that has ended.
    #[cold]
    fn bury<M: Message>(&mut self, message: M, reply: Reply<M::Reply>) {
        tracing::debug!(
            message = std::any::type_name::<M>(),
            "a message came to an actor that has ended"
        );
        drop(message);
        let reason = match &self.rest {
            Some(rest) => rest.lock().failure.clone(),
            None => None,
        };
        reply.refuse(&reason.unwrap_or(ExitReason::Normal));
    }

    /// Ends an actor that nobody has the address of any more, from a behaviour: what earlier ones
    /// have asked for was seen to before this one came.
    pub(crate) fn end_unreachable(&mut self, front: &Front) {
        self.end(front, ExitReason::Normal);
    }

    fn rest(&mut self) -> &mut Rest<A> {
        self.rest.get_or_insert_default().get_mut()
    }

    fn has_rest(&mut self) -> Option<&mut Rest<A>> {
        self.rest.as_mut().map(|rest| rest.get_mut())
    }

    /// Calls a hook of the actor's. A panic fails it.
    fn hook(&mut self, hook: impl FnOnce(&mut A, &mut Context<A>)) {
        let Some(body) = &mut self.body else { return };
        if let Err(why) = catch(|| hook(body.actor.get_mut(), &mut body.context)) {
            self.rest().failure = Some(reason_of(&why));
        }
    }

    fn begin(&mut self) {
        if self.phase == Phase::Starting {
            self.phase = Phase::Running;
            self.hook(|actor, context| actor.started(context));
        }
    }

    fn obey(&mut self, front: &Front, directive: Directive) {
        if self.phase == Phase::Ended {
            return refuse(front, directive);
        }
        match directive {
            Directive::Stop(reason) => {
                self.end_hold();
                self.end(front, reason);
            }
            Directive::Kill(reason) => self.kill(front, reason),
            Directive::Restart(reason) => {
                self.end_hold();
                self.restart(front, &reason);
            }
            Directive::Suspend => self.rest().suspended = true,
            Directive::Resume => self.rest().suspended = false,
            Directive::Link(other) => self.rest().ties.link(other),
            Directive::Unlink(other) => {
                self.rest().ties.unlink(other);
            }
            Directive::Exit { from, reason } => self.on_exit(front, from, reason),
            Directive::Monitor(monitor) => self.rest().ties.monitors.push(monitor),
            Directive::Demonitor(id) => self.rest().ties.demonitor(id),
            Directive::TrapExits(trap) => self.rest().ties.trap = trap,
        }
    }

    fn on_exit(&mut self, front: &Front, from: ActorId, reason: ExitReason) {
        let ties = &mut self.rest().ties;
        // Whoever was unlinked meanwhile has nothing to say any more.
        if !ties.unlink(from) {
            return;
        }
        if let Some(trap) = &ties.trap {
            return trap(Exited { actor: from, reason });
        }
        if !reason.is_normal() {
            self.end_hold();
            self.end(front, ExitReason::Linked(from, Arc::new(reason)));
        }
    }

    /// Does what handlers and hooks have asked for, and what came of them, until nothing is left to
    /// do now.
    fn settle(&mut self, front: &Front) {
        while self.phase != Phase::Ended && self.settle_one(front) {}
    }

    /// Returns whether there was something to do.
    fn settle_one(&mut self, front: &Front) -> bool {
        if let Some(reason) = self.has_rest().and_then(|rest| rest.failure.take()) {
            self.end(front, reason);
            return true;
        }
        if self.has_rest().is_some_and(|rest| rest.hold.is_some()) {
            return self.poll_hold();
        }
        let Some(body) = &mut self.body else { return false };
        if let Some(reason) = body.context.take_stop() {
            self.end(front, reason);
            return true;
        }
        let Some(request) = body.context.take_hold() else { return false };
        let body = self.body.take().expect("seen above");
        self.rest().hold = Some(Hold::begin(request, body));
        true
    }

    /// Polls the future that holds the actor; returns whether it has ended.
    fn poll_hold(&mut self) -> bool {
        let Some(hold) = &mut self.rest().hold else { return false };
        match catch(|| hold.poll()) {
            Ok(Poll::Pending) => return false,
            Ok(Poll::Ready(())) => self.end_hold(),
            Err(why) => {
                self.end_hold();
                self.rest().failure = Some(reason_of(&why));
            }
        }
        true
    }

    /// Drops the future that holds the actor, if there is one, and takes the state out of it.
    fn end_hold(&mut self) {
        if let Some(hold) = self.has_rest().and_then(|rest| rest.hold.take()) {
            self.body = hold.take_back();
        }
    }

    fn kill(&mut self, front: &Front, reason: ExitReason) {
        self.end_hold();
        self.phase = Phase::Ended;
        self.finish(front, reason);
    }

    fn end(&mut self, front: &Front, reason: ExitReason) {
        self.phase = Phase::Ended;
        self.hook(|actor, context| actor.stopped(&reason, context));
        self.finish(front, reason);
    }

    /// Makes it known that the actor has ended, and drops it.
    fn finish(&mut self, front: &Front, reason: ExitReason) {
        front.set_end(reason.clone());
        self.this.close();
        let (body, rest) = (self.body.take(), self.rest.take());
        self.rest().failure = Some(reason.clone());
        let _ = catch(move || drop(body));
        let Some(rest) = rest else { return };
        let Rest { ties: Ties { links, monitors, .. }, .. } = rest.into_inner();
        for link in links {
            // Whoever is gone need not be told.
            let _ = link.direct(Directive::Exit { from: front.id, reason: reason.clone() });
        }
        for monitor in monitors {
            let _ = catch(|| monitor.down(front.id, &reason));
        }
    }

    fn restart(&mut self, front: &Front, reason: &ExitReason) {
        if self.rest().factory.is_none() {
            return self.end(front, reason.clone());
        }
        self.hook(|actor, context| actor.stopped(reason, context));
        let body = self.body.take();
        let _ = catch(move || drop(body));
        let factory = self.rest().factory.as_mut().expect("seen above");
        match catch(factory) {
            Ok(actor) => {
                self.body = Some(Body { actor, context: Context::new(self.this.clone()) });
                self.hook(|actor, context| actor.restarted(reason, context));
            }
            Err(why) => self.end(front, reason_of(&why)),
        }
    }

    fn door(&mut self) -> Door {
        match self.has_rest() {
            Some(rest) if rest.suspended || rest.hold.is_some() => Door::Shut,
            _ => Door::Open,
        }
    }
}

impl<A: Actor> Attended for Cell<A> {
    type Front = Front;

    fn attend(&mut self, front: &Front) -> Door {
        self.begin();
        while let Some(directive) = front.take_directive() {
            self.obey(front, directive);
        }
        self.settle(front);
        self.door()
    }

    fn cancel(&mut self, _: &Front) {
        if let Some(rest) = self.has_rest() {
            rest.hold = None;
            rest.suspended = false;
        }
    }

    fn failed(&mut self, _: &Front, why: &Broken) {
        // Of several panics before it is attended to the first counts.
        self.rest().failure.get_or_insert_with(|| reason_of(why));
    }
}

/// Answers a directive that has come too late.
fn refuse(front: &Front, directive: Directive) {
    match directive {
        Directive::Monitor(monitor) => {
            let reason = front.end().cloned().unwrap_or(ExitReason::NoActor);
            let _ = catch(|| monitor.down(front.id, &reason));
        }
        Directive::Link(other) => {
            let _ = other.direct(Directive::Exit { from: front.id, reason: ExitReason::NoActor });
        }
        _ => {}
    }
}

/// How a caught panic ends an actor.
fn reason_of(why: &Broken) -> ExitReason {
    match why {
        Broken::Panicked(message) => ExitReason::Panicked(Arc::clone(message)),
        other => ExitReason::Failed(other.to_string().into()),
    }
}
