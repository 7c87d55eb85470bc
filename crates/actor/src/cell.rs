//! An actor as the state of a cown: everything that happens to it happens here.

mod ending;
mod supervised;

use std::any::type_name;
use std::mem::needs_drop;
use std::sync::Arc;
use std::task::Poll;

use coact_core::{
    Anchored, Attended, Broken, Cown, Door, Ending, Home, WeakCown, catch, is_cancelling, when,
};
use parking_lot::Mutex;

pub(crate) use self::ending::refuse_late;
use crate::begun::note_cut_off;
use crate::directive::{Directive, Tie};
use crate::events::Subject;
use crate::front::Front;
use crate::hold::Hold;
use crate::life::Ties;
use crate::mailbox::Letters;
use crate::reply::in_end_for;
use crate::supervise::{Intensity, Ward};
use crate::{
    Actor, ActorId, Addr, Context, ExitReason, Exited, Message, MessageTo, Reply, WeakAddr,
};

/// The state of an actor's cown.
pub struct Cell<A: Actor> {
    /// `None` while a future holds the actor, and once it has ended.
    body: Option<Body<A>>,
    /// Where the cell is, if the context, which knows that too, is not there.
    this: Option<WeakAddr<A>>,
    /// What few actors have.
    rest: Option<Box<Mutex<Rest<A>>>>,
    phase: Phase,
    /// How often somebody had a turn with the actor; wraps. See [`quiet`](crate::quiet).
    turns: u32,
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
    /// It has no state, and its supervisor is to say what follows.
    Down,
    Ended,
}

/// How many things in a row are done for handlers and hooks before others have the worker.
const STEPS: u32 = 256;

/// How many directives are obeyed before others have their turn: behind those that were left since.
const DIRECTIVES: u32 = 64;

/// Makes a new state for a restart; it is called where the actor runs.
pub(crate) type Factory<A> = Box<dyn FnMut() -> Anchored<A> + Send>;

struct Rest<A: Actor> {
    ties: Ties,
    factory: Option<Factory<A>>,
    /// That it has a supervisor.
    ward: Option<Ward>,
    /// How often it may restart after panics, if it does so by itself.
    limit: Option<Box<Intensity>>,
    hold: Option<Hold<A>>,
    /// Messages wait until the actor is resumed.
    suspended: bool,
    /// The actor has panicked, and nothing was done about it yet.
    failure: Option<ExitReason>,
    /// Messages that were set aside, and come before all that waits.
    again: Letters,
    /// How many states there were before this one.
    life: u32,
}

impl<A: Actor> Default for Rest<A> {
    fn default() -> Self {
        Self {
            ties: Ties::default(),
            factory: None,
            limit: None,
            ward: None,
            hold: None,
            suspended: false,
            failure: None,
            again: Letters::default(),
            life: 0,
        }
    }
}

impl<A: Actor> Cell<A> {
    pub(crate) fn new(
        actor: Anchored<A>,
        this: WeakCown<Self>,
        factory: Option<Factory<A>>,
        limit: Option<Box<Intensity>>,
    ) -> Self {
        let rest = factory.map(|factory| {
            Box::new(Mutex::new(Rest { factory: Some(factory), limit, ..Rest::default() }))
        });
        let context = Context::new(WeakAddr::new(this), 0);
        let body = Some(Body { actor, context });
        Self { body, rest, phase: Phase::Starting, turns: 0, this: None }
    }

    /// An actor whose supervisor is yet to start it.
    pub(crate) fn supervised(this: WeakCown<Self>, make: Factory<A>) -> Self {
        let ward = Some(Ward::default());
        let rest = Rest { factory: Some(make), ward, ..Rest::default() };
        let rest = Some(Box::new(Mutex::new(rest)));
        let this = Some(WeakAddr::new(this));
        Self { body: None, rest, phase: Phase::Down, turns: 0, this }
    }

    /// Gives a message to the actor.
    #[inline]
    pub(crate) fn receive<M>(&mut self, message: M, reply: Reply<M::Reply>)
    where
        M: MessageTo<A>,
    {
        self.turns = self.turns.wrapping_add(1);
        match &mut self.body {
            // Its ask has failed.
            _ if !reply.take_up() => {}
            Some(body) => message.give(body.actor.get_mut(), reply, &mut body.context),
            None => self.bury(message, reply),
        }
    }

    /// Gives a message to the actor that was sent, not asked.
    #[inline]
    pub(crate) fn receive_sent<M>(&mut self, message: M)
    where
        M: MessageTo<A>,
    {
        self.turns = self.turns.wrapping_add(1);
        match &mut self.body {
            Some(body) => message.give_sent(body.actor.get_mut(), &mut body.context),
            None => self.bury(message, Reply::unwanted()),
        }
    }

    /// Calls something with the actor, if it lives.
    #[inline]
    pub(crate) fn call(&mut self, work: impl FnOnce(&mut A, &mut Context<A>)) {
        self.turns = self.turns.wrapping_add(1);
        if let Some(body) = &mut self.body {
            work(body.actor.get_mut(), &mut body.context);
        }
    }

    /// Calls something with the actor, if it lives and has the state still for which this was begun.
    #[inline]
    pub(crate) fn call_in(&mut self, life: u32, work: impl FnOnce(&mut A, &mut Context<A>)) {
        self.call(|actor, context| {
            if context.life() == life {
                work(actor, context);
            }
        });
    }

    /// Gives news to the actor, if it wants them still.
    pub(crate) fn receive_in<M: MessageTo<A>>(
        &mut self,
        is_wanted: impl FnOnce(&mut Context<A>) -> bool,
        news: M,
    ) {
        if self.body.as_mut().is_none_or(|body| is_wanted(&mut body.context)) {
            self.receive(news, Reply::unwanted());
        }
    }

    /// Calls something with the actor, if it lives, that is no turn of anybody's, and is told how many
    /// there were.
    pub(crate) fn look(&mut self, look: impl FnOnce(&mut A, &mut Context<A>, u32)) {
        if let Some(body) = &mut self.body {
            look(body.actor.get_mut(), &mut body.context, self.turns);
        }
    }

    /// The actor, for a behaviour. The cown of one that has ended is closed, and while it is held
    /// its door is shut, so no behaviour comes then.
    pub(crate) fn actor(&self) -> &A {
        self.body.as_ref().expect("behaviours come only while the actor is there").actor.get()
    }

    pub(crate) fn actor_mut(&mut self) -> &mut A {
        self.turns = self.turns.wrapping_add(1);
        let body = self.body.as_mut().expect("behaviours come only while the actor is there");
        body.actor.get_mut()
    }

    /// A message has come to an actor that has ended.
    #[cold]
    fn bury<M: Message>(&mut self, message: M, reply: Reply<M::Reply>) {
        self.front().count_dead_letter();
        let reason = self.front().end().cloned().unwrap_or(ExitReason::Normal);
        self.subject().missed(type_name::<M>(), &reason);
        // What comes past the deadline is counted where it comes from.
        if Home::current().is_ending() && !is_cancelling() {
            Home::current().count_abandoned();
        }
        drop(message);
        reply.refuse(&reason);
    }

    pub(crate) fn front(&self) -> &Front {
        self.this().front()
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

    fn subject(&self) -> Subject {
        Subject::new::<A>(self.this().id())
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

    /// Returns false of one that may not begin yet.
    fn begin(&mut self, front: &Front) -> bool {
        if self.phase == Phase::Starting {
            if front.is_unborn() {
                return false;
            }
            self.phase = Phase::Running;
            self.hook(|actor, context| actor.started(context));
            self.subject().started();
        }
        true
    }

    #[cold]
    fn obey(&mut self, front: &Front, directive: Directive) {
        match self.phase {
            Phase::Ended => return self.refuse_behind(front, directive),
            // There is nothing to be ended or replaced.
            Phase::Down if directive.ends_a_run() => return,
            _ => {}
        }
        match directive {
            Directive::Stop(reason) => {
                self.end_hold_for(&reason);
                self.end(front, reason);
            }
            Directive::Kill(reason) => self.kill(front, reason),
            Directive::Restart(reason) => {
                self.end_hold();
                self.restart(front, &reason);
            }
            Directive::Start { by, run } => self.start(front, by, run),
            Directive::End(reason) => self.end_for_good(front, reason),
            Directive::RuntimeEnds(ending) => self.end_with_runtime(front, &ending),
            Directive::Suspend => self.rest().suspended = true,
            Directive::Resume => self.rest().suspended = false,
            Directive::Exit { from, reason } => self.on_exit(front, from, reason),
            Directive::Tie(tie) => self.tie(front, tie),
        }
    }

    fn tie(&mut self, front: &Front, tie: Tie) {
        let rest = self.rest();
        let life = rest.life;
        rest.ties.change(front.id(), life, tie);
    }

    fn on_exit(&mut self, front: &Front, from: ActorId, reason: ExitReason) {
        let is_down = self.phase == Phase::Down;
        let ties = &mut self.rest().ties;
        if is_down {
            return ties.exit_later(from, reason);
        }
        // Whoever was unlinked meanwhile has nothing to say any more.
        if !ties.unlink(from) {
            return;
        }
        if let Some(trap) = &ties.trap {
            return trap(Exited { actor: from, reason });
        }
        if !reason.is_normal() {
            let reason = ExitReason::Linked(from, reason.into_cause());
            self.end_hold_for(&reason);
            self.end(front, reason);
        }
    }

    /// Does what handlers and hooks have asked for, and what came of them, until nothing is left to
    /// do now.
    fn settle(&mut self, front: &Front) {
        let mut steps = 0;
        while self.phase == Phase::Running && self.settle_one(front) {
            steps += 1;
            if steps == STEPS {
                // Its futures go on asking for others that are ready at once.
                self.come_again();
                break;
            }
        }
        self.announce(front);
    }

    /// Lets others have the worker, and has the actor attended to again.
    fn come_again(&self) {
        let this = self.this().clone();
        when((), move |()| _ = this.alert());
    }

    /// Returns whether there was something to do.
    fn settle_one(&mut self, front: &Front) -> bool {
        if self.settle_failure(front) {
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
        if let Some(letters) = body.context.take_unstashed() {
            self.handle_again(letters);
            return true;
        }
        let Some(request) = body.context.take_hold() else { return false };
        let body = self.take_body().expect("seen above");
        self.rest().hold = Some(Hold::begin(request, body));
        true
    }

    /// Ends the actor if it has failed.
    fn settle_failure(&mut self, front: &Front) -> bool {
        if self.phase != Phase::Running {
            return false;
        }
        let failure = self.has_rest().and_then(|rest| rest.failure.take());
        let has_failed = failure.is_some();
        if let Some(reason) = failure {
            self.fail(front, reason);
        }
        has_failed
    }

    /// Lets messages come before all others.
    fn handle_again(&mut self, letters: Letters) {
        self.rest().again.prepend(letters);
    }

    /// Handles the next message that was set aside, if there is one, and it need not wait.
    #[inline(never)]
    fn replay_one(&mut self) {
        if self.waits() {
            return;
        }
        let Some(letter) = self.has_rest().and_then(|rest| rest.again.pop_front()) else {
            return;
        };
        if let Err(why) = catch(|| letter.deliver(self)) {
            self.rest().failure = Some(reason_of(&why));
        }
    }

    /// Obeys directives, and does what is to be done now. Returns whether that is all for now: if there are
    /// many directives, others want the worker, and the actor is attended to again.
    fn heed(&mut self, front: &Front) -> bool {
        let mut obeyed = 0;
        let is_all = loop {
            // A panic was first: what was left meanwhile finds the actor ended.
            self.settle_failure(front);
            if obeyed >= DIRECTIVES && front.has_directives() && self.this().alert() {
                break false;
            }
            let Some(directive) = front.take_directive() else { break true };
            self.obey(front, directive);
            obeyed += 1;
        };
        self.settle(front);
        is_all
    }

    /// Whether messages wait for something else to happen.
    fn waits(&mut self) -> bool {
        let is_down = self.phase == Phase::Down;
        let waits = |rest: &mut Rest<A>| rest.suspended || rest.hold.is_some();
        is_down
            || self.has_rest().is_some_and(waits)
            || self.body.as_mut().is_some_and(|body| body.context.is_unsettled())
    }

    /// Polls the future that holds the actor; returns whether it has ended.
    #[inline(never)]
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
    #[inline(never)]
    fn end_hold(&mut self) {
        if let Some(hold) = self.has_rest().and_then(|rest| rest.hold.take()) {
            self.body = hold.take_back();
        }
    }

    /// The same for an actor that ends: what the future was to answer fails for that reason.
    fn end_hold_for(&mut self, reason: &ExitReason) {
        if self.has_rest().is_some_and(|rest| rest.hold.is_some()) {
            note_cut_off();
            in_end_for(reason, || self.end_hold());
        }
    }

    /// Does what is to be done after a panic.
    #[cold]
    fn fail(&mut self, front: &Front, reason: ExitReason) {
        self.subject().failed(&reason);
        let limit = self.has_rest().and_then(|rest| rest.limit.as_mut());
        if limit.is_some_and(|limit| limit.allows(Home::current().elapsed())) {
            self.restart(front, &reason);
        } else {
            self.end(front, reason);
        }
    }

    #[cold]
    fn kill(&mut self, front: &Front, reason: ExitReason) {
        self.end_hold_for(&reason);
        self.phase = Phase::Ended;
        self.finish(front, reason);
    }

    /// Ends the actor, which says its farewell.
    #[inline(never)]
    fn end(&mut self, front: &Front, reason: ExitReason) {
        self.phase = Phase::Ended;
        let reason = self.say_farewell(reason);
        self.finish(front, reason);
    }

    /// Calls [`Actor::stopped`]. A farewell that fails is told, and is the reason of an end that was meant
    /// otherwise; returns what is the reason now.
    fn say_farewell(&mut self, reason: ExitReason) -> ExitReason {
        self.hook(|actor, context| actor.stopped(&reason, context));
        let Some(failure) = self.has_rest().and_then(|rest| rest.failure.take()) else {
            return reason;
        };
        self.subject().failed(&failure);
        if reason.is_normal() { failure } else { reason }
    }

    /// Makes it known that the actor has ended, and drops it; if its supervisor may want it back,
    /// it only goes down.
    fn finish(&mut self, front: &Front, reason: ExitReason) {
        if self.is_supervised() {
            return self.go_down(front, reason);
        }
        front.set_end(&reason);
        self.this().close();
        front.open_mailbox();
        self.drop_body(&reason);
        self.subject().stopped(&reason);
        if let Some(rest) = self.rest.take() {
            self.finish_rest(front, rest.into_inner(), reason);
        }
        if front.set_told() {
            self.refuse_late(front);
        }
    }

    /// Drops the state, and what it has begun and set aside.
    fn drop_body(&mut self, reason: &ExitReason) {
        let Some(Body { actor, context }) = self.body.take() else { return };
        let (this, asked) = context.into_parts();
        self.this = Some(this);
        match asked {
            Some(mut asked) => {
                let stash = asked.take_stash();
                let _ = catch(|| in_end_for(reason, move || drop((actor, asked))));
                self.bury_all(stash);
            }
            None if needs_drop::<A>() => _ = catch(|| in_end_for(reason, move || drop(actor))),
            None => {}
        }
    }

    /// Tells others of the end, and drops what else there was.
    #[cold]
    fn finish_rest(&mut self, front: &Front, rest: Rest<A>, reason: ExitReason) {
        let Rest { ties, factory, again, .. } = rest;
        let _ = catch(move || drop(factory));
        self.bury_all(again);
        if !ties.is_empty() {
            let actor = front.id();
            self.tell_behind(move || ties.announce_end(actor, &reason));
        }
    }

    /// Drops messages that were set aside by an actor that has ended.
    fn bury_all(&mut self, mut letters: Letters) {
        while let Some(letter) = letters.pop_front() {
            let _ = catch(|| letter.deliver(self));
        }
    }

    #[cold]
    fn restart(&mut self, front: &Front, reason: &ExitReason) {
        if self.rest().factory.is_none() {
            return self.end(front, reason.clone());
        }
        self.say_farewell(reason.clone());
        let mut body = self.take_body();
        if let Some(body) = &mut body {
            self.handle_again(body.context.take_stash());
        }
        let _ = catch(move || drop(body));
        self.rest().failure = None;
        match self.renew() {
            Ok(()) => {
                self.hook(|actor, context| actor.restarted(reason, context));
                self.subject().restarted(reason);
            }
            Err(why) => {
                self.subject().failed(&why);
                self.end(front, why);
            }
        }
    }

    /// Makes a new state. What the one before has begun ends with that; if there is none, with the actor.
    fn renew(&mut self) -> Result<(), ExitReason> {
        let make = self.rest().factory.as_mut().expect("only actors that can be restarted are");
        let actor = catch(make).map_err(|why| reason_of(&why))?;
        let life = &mut self.rest().life;
        *life = life.wrapping_add(1).max(1);
        let life = *life;
        let this = self.this().clone();
        self.rest().ties.end_life(this.id());
        self.body = Some(Body { actor, context: Context::new(this, life) });
        Ok(())
    }

    /// Messages that were set aside come before the next behaviour, one in each turn: as that would,
    /// they wait for the other members of the actor's group.
    fn door(&mut self) -> Door {
        if self.waits() {
            Door::Shut
        } else if self.has_rest().is_some_and(|rest| !rest.again.is_empty()) {
            Door::Reserved
        } else {
            Door::Open
        }
    }

    /// Whether it runs, and nobody, itself included, has asked for anything.
    #[inline]
    fn is_plain(&self, front: &Front) -> bool {
        let has_asked = |body: &Body<A>| !body.context.is_bare();
        self.phase == Phase::Running
            && self.rest.is_none()
            && !front.has_been_directed()
            && !self.body.as_ref().is_none_or(has_asked)
    }

    /// No message overtakes a directive.
    #[inline(never)]
    fn heed_at_door(&mut self, front: &Front) -> Door {
        if self.heed(front) { self.door() } else { Door::Shut }
    }
}

impl<A: Actor> Attended for Cell<A> {
    type Front = Front;

    fn attend(&mut self, front: &Front) -> Door {
        if !self.begin(front) {
            return Door::Shut;
        }
        if self.is_plain(front) { Door::Open } else { self.heed_at_door(front) }
    }

    fn take_turn(&mut self, front: &Front) -> Door {
        self.replay_one();
        self.heed_at_door(front)
    }

    fn cancel(&mut self, front: &Front) {
        self.cut_off(front);
    }

    fn failed(&mut self, _: &Front, why: &Broken) {
        // Of several panics before it is attended to the first counts.
        self.rest().failure.get_or_insert_with(|| reason_of(why));
    }

    fn end(front: &Front, ending: &Ending) {
        // An alert follows in any case.
        let _ = front.leave(Directive::RuntimeEnds(ending.clone()));
    }

    fn number(front: &Front) -> u64 {
        front.id().get()
    }

    /// Nobody has the actor's address any more. (What its last messages have asked for was seen to before this comes.)
    fn farewell(&mut self, front: &Front) {
        self.leave_supervisor();
        self.end(front, ExitReason::Normal);
    }

    fn unreachable(last: Cown<Self>) {
        drop(Addr::new(last));
    }
}

/// An actor whose state goes without having ended: what was to end it was dropped with its runtime.
impl<A: Actor> Drop for Cell<A> {
    fn drop(&mut self) {
        if self.phase != Phase::Ended {
            let this = self.this().clone();
            self.cut_off(this.front());
        }
    }
}

/// Answers what was left for an actor that has ended.
pub(crate) fn refuse_all(front: &Front) {
    while let Some(directive) = front.take_directive() {
        let _ = catch(|| refuse(front, directive));
    }
}

/// Answers a directive that has come too late.
fn refuse(front: &Front, directive: Directive) {
    match directive {
        Directive::Tie(Tie::Monitor(monitor)) => {
            let _ = catch(|| monitor.down(front.id(), &reason_of_end(front)));
        }
        Directive::Tie(Tie::Link { other, .. }) => {
            let _ =
                other.direct(Directive::Exit { from: front.id(), reason: reason_of_end(front) });
        }
        _ => {}
    }
}

/// Why an actor has ended that is asked for it.
fn reason_of_end(front: &Front) -> ExitReason {
    front.end().cloned().unwrap_or(ExitReason::NoActor)
}

/// How a caught panic ends an actor.
fn reason_of(why: &Broken) -> ExitReason {
    match why {
        Broken::Panicked(message) => ExitReason::Panicked(Arc::clone(message)),
        other => ExitReason::Failed(other.to_string().into()),
    }
}
