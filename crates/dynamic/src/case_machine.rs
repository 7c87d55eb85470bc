//! An actor at work: which message it takes next, with which cases, and which it skips.
//!
//! A message that no case takes is *skipped*: it waits here, in order. What may be taken now is
//! tried again before anything that waits in the mailbox: one message a turn, so that signals come
//! in between. Those whose types fit no case are looked at again only when the cases change.

use std::any::Any;
use std::mem::{forget, take};

use coact_actor::actor::{AskError, Context, ExitReason, Reply};
use coact_actor::internals::{exchange_with_twin, handle_next, hold_for, own_address, twin_of};
use coact_core::internals::WorkerPlace;
use coact_tuple::AnyTuple;
use tracing::{Level, debug, enabled};

use crate::after_clock::AfterClock;
use crate::cases::NoMatch;
use crate::context::{AwaitedAnswer, CasesChange, DynCases, DynContext};
use crate::dyn_actor::{ActorMachine, DynActor, DynMessage, ExtraTurn};
use crate::received::{QueuedMessage, ReplyRoute};
use crate::skipped::SkippedMessages;
use crate::skipped_limit;

/// What an actor does first.
pub(crate) type ActorInit<S> = Box<dyn FnOnce(&mut DynContext<S>) + Send>;

/// The machine of an actor whose state is an `S`.
pub(crate) struct CaseMachine<S> {
    context: DynContext<S>,
    init: Option<ActorInit<S>>,
    /// The cases in use, and below them those that come back.
    cases: Option<DynCases<S>>,
    kept: Vec<DynCases<S>>,
    skipped: SkippedMessages<QueuedMessage>,
    clock: AfterClock,
    /// Whether there may be something to do before the next message.
    has_more: bool,
    /// Whether a turn before the next message was requested.
    goes_on: bool,
}

/// What comes of a request.
pub(crate) type RequestOutcome = Result<AnyTuple, AskError>;

impl<S: Send + 'static> CaseMachine<S> {
    pub(crate) fn new(state: S, init: ActorInit<S>) -> Self {
        Self {
            context: DynContext::new(state),
            init: Some(init),
            cases: None,
            kept: Vec::new(),
            skipped: SkippedMessages::default(),
            clock: AfterClock::default(),
            has_more: false,
            goes_on: false,
        }
    }

    /// Gives a message to the cases, or keeps it for later.
    #[inline(always)]
    fn receive(&mut self, message: &mut DynMessage) {
        if self.take(message) {
            self.taken();
        } else {
            self.skip(message);
        }
    }

    /// Gives a message to the cases. Returns whether one takes it; otherwise it is as before, but
    /// for its reply, which is noted.
    #[inline(always)]
    fn take(&mut self, message: &mut DynMessage) -> bool {
        let Some(cases) = &mut self.cases else { return false };
        let mut header = take(&mut message.header);
        let mut room = header.take_room();
        self.context.received.begin_with(header);
        let is_taken = cases.apply_in_place(&mut self.context, &mut message.tuple, &mut room);
        let is_taken = is_taken.is_some();
        if !is_taken {
            message.header = take(&mut self.context.received.header);
            message.header.give_room(room);
        }
        is_taken
    }

    #[cold]
    fn skip(&mut self, message: &mut DynMessage) {
        let reply = self.context.received.take_asked();
        let queued = QueuedMessage { message: take(message), reply };
        // Until the actor goes on.
        queued.note_kept(self.context.own(), true);
        let tuple = &queued.message.tuple;
        if enabled!(Level::DEBUG) {
            self.tell_skipped(tuple);
        }
        let fits = self.cases.as_mut().is_some_and(|cases| cases.may_take(tuple));
        self.has_more |= fits;
        self.skipped.push(tuple.type_key(), fits, queued);
        skipped_limit::limit(&mut self.skipped, self.context.actor());
    }

    fn tell_skipped(&self, tuple: &AnyTuple) {
        let actor = own_address(self.context.running()).id();
        match &self.cases {
            Some(cases) => debug!(%actor, "skipped: {}", cases.explain(tuple)),
            None => debug!(%actor, %tuple, "skipped: there are no cases"),
        }
    }

    /// Takes the oldest skipped message that a case takes now, if there is one.
    #[inline(never)]
    fn retry(&mut self) -> bool {
        let mut places = self.skipped.fitting();
        while let Some(place) = places.next(&self.skipped) {
            if let Some(mut queued) = self.skipped.take(place) {
                queued.note_kept(self.context.own(), false);
                if let Some(reply) = queued.reply.take() {
                    self.context.received.is_to_answer(reply);
                }
                if self.take(&mut queued.message) {
                    self.skipped.remove(place);
                    return true;
                }
                queued.reply = self.context.received.take_asked();
                queued.note_kept(self.context.own(), true);
                self.skipped.put_back(place, queued);
            }
        }
        false
    }

    /// Does what the cases have requested that have taken a message.
    #[inline(always)]
    fn taken(&mut self) {
        self.clock.restart();
        self.handled();
    }

    /// Does what the cases that have just run have requested.
    #[inline(always)]
    fn handled(&mut self) {
        self.context.received.clear();
        if self.context.requested.is_any || self.has_more {
            self.do_requested();
        }
    }

    #[inline(never)]
    fn do_requested(&mut self) {
        self.context.requested.is_any = false;
        if !self.context.requested.changes.is_empty() {
            self.change();
        }
        if self.cases.is_none() && self.context.requested.open == 0 {
            self.context.stop();
        }
        if let Some(awaited) = self.context.requested.awaits.pop() {
            self.hold_for(awaited);
        }
        self.request_turn();
    }

    fn change(&mut self) {
        for change in self.context.requested.changes.drain(..) {
            match change {
                CasesChange::Replace(cases) => self.cases = Some(cases),
                CasesChange::Push(cases) => self.kept.extend(self.cases.replace(cases)),
                CasesChange::Pop => self.cases = self.kept.pop(),
            }
        }
        let cases = &mut self.cases;
        self.skipped.refit(|queued: &QueuedMessage| {
            cases.as_mut().is_some_and(|cases| cases.may_take(&queued.message.tuple))
        });
        let after = cases.as_ref().and_then(DynCases::timeout);
        self.clock.set(after, self.context.actor(), Self::look_at_clock);
    }

    /// Requests a turn before the next message, if there is something to do in it.
    fn request_turn(&mut self) {
        self.has_more = self.skipped.has_fitting();
        if self.has_more && !self.goes_on {
            self.goes_on = true;
            handle_next(self.context.actor(), ExtraTurn);
        }
    }

    /// Holds the actor until an answer is there, and gives that to its cases.
    fn hold_for(&mut self, AwaitedAnswer { answer, cases }: AwaitedAnswer<S>) {
        hold_for(self.context.actor(), answer, |actor: &mut DynActor, answered, context| {
            if let Some(machine) = actor.machine::<Self>() {
                machine.answered(cases, answered, context);
            }
        });
    }

    /// Takes up an answer.
    pub(crate) fn answered(
        &mut self,
        cases: DynCases<S>,
        answered: RequestOutcome,
        context: &mut Context<DynActor>,
    ) {
        if let Some(turn) = EngineTurn::begin(self, context) {
            turn.machine.handle_answer(cases, answered);
        }
    }

    fn handle_answer(&mut self, mut cases: DynCases<S>, answered: RequestOutcome) {
        self.context.requested.open = self.context.requested.open.saturating_sub(1);
        self.context.requested.is_any = true;
        self.context.received.answer = ReplyRoute::Given;
        let untaken = match answered {
            Ok(tuple) => cases.apply(&mut self.context, tuple).err(),
            Err(AskError::Timeout(_)) if cases.timeout().is_some() => {
                cases.time_out(&mut self.context);
                None
            }
            Err(error) => cases.apply(&mut self.context, AnyTuple::new(error)).err(),
        };
        if let Some(tuple) = untaken {
            let why = format!("it has no case for an answer: {}", cases.explain(&tuple));
            self.context.stop_with(ExitReason::Failed(why.into()));
        }
        self.handled();
    }

    fn look_at_clock(actor: &mut DynActor, number: u64, context: &mut Context<DynActor>) {
        if let Some(machine) = actor.machine::<Self>() {
            machine.timed_out(number, context);
        }
    }

    /// Does what `after` says, unless a message was taken or the cases were changed meanwhile.
    fn timed_out(&mut self, number: u64, context: &mut Context<DynActor>) {
        let Some(turn) = EngineTurn::begin(self, context) else { return };
        let machine = &mut *turn.machine;
        let actor = machine.context.actor();
        if !machine.clock.is_over(number, actor, Self::look_at_clock) {
            return;
        }
        if let Some(cases) = &mut machine.cases {
            cases.time_out(&mut machine.context);
        }
        machine.taken();
    }
}

impl<S: Send + 'static> ActorMachine for CaseMachine<S> {
    fn start(&mut self, context: &mut Context<DynActor>) -> Option<WorkerPlace> {
        self.context.actor = Some(twin_of(context));
        let turn = EngineTurn::begin(self, context)?;
        if let Some(init) = turn.machine.init.take() {
            init(&mut turn.machine.context);
        }
        turn.machine.context.requested.is_any = true;
        turn.machine.handled();
        None
    }

    fn receive(&mut self, message: &mut DynMessage, context: &mut Context<DynActor>) {
        if let Some(turn) = EngineTurn::begin(self, context) {
            turn.machine.receive(message);
            turn.end();
        }
    }

    fn receive_asked(
        &mut self,
        message: &mut DynMessage,
        reply: Reply<AnyTuple>,
        context: &mut Context<DynActor>,
    ) {
        if let Some(turn) = EngineTurn::begin(self, context) {
            turn.machine.context.received.is_to_answer(reply);
            turn.machine.receive(message);
            turn.end();
        }
    }

    fn go_on(&mut self, context: &mut Context<DynActor>) {
        let Some(turn) = EngineTurn::begin(self, context) else { return };
        let machine = &mut *turn.machine;
        machine.goes_on = false;
        if machine.retry() {
            machine.taken();
        }
    }

    fn give_back(&mut self, context: &mut Context<DynActor>) {
        skipped_limit::give_back(&mut self.skipped, context);
    }

    fn skipped(&self) -> Vec<NoMatch> {
        let explain = |queued: &QueuedMessage| match &self.cases {
            Some(cases) => cases.explain(&queued.message.tuple),
            None => NoMatch::without_cases(&queued.message.tuple),
        };
        self.skipped.all().into_iter().map(explain).collect()
    }

    fn state(&self) -> &dyn Any {
        self.context.state()
    }

    fn state_mut(&mut self) -> &mut dyn Any {
        self.context.state_mut()
    }
}

/// A turn of the machine, which has the actor's context meanwhile. After a panic, what was received
/// is dropped with it, so that an ask fails for that reason.
struct EngineTurn<'e, S> {
    machine: &'e mut CaseMachine<S>,
    context: &'e mut Context<DynActor>,
}

impl<'e, S> EngineTurn<'e, S> {
    /// `None` if a behaviour has exchanged the actor for another one, which ends it: messages
    /// sent to the one would reach the other.
    #[inline]
    fn begin(machine: &'e mut CaseMachine<S>, context: &'e mut Context<DynActor>) -> Option<Self> {
        match &machine.context.actor {
            Some(twin) if own_address(twin) == own_address(context) => {
                exchange(machine, context);
                Some(Self { machine, context })
            }
            _ => {
                end_exchanged(context);
                None
            }
        }
    }

    /// Ends the turn, where nothing is left of what was received.
    #[inline]
    fn end(self) {
        exchange(self.machine, self.context);
        forget(self);
    }
}

#[cold]
pub(crate) fn end_exchanged(context: &mut Context<DynActor>) {
    let why = "a behaviour has exchanged it for another actor, or for a new one: exchange states";
    context.stop_with(ExitReason::Failed(why.into()));
}

impl<S> Drop for EngineTurn<'_, S> {
    fn drop(&mut self) {
        self.machine.context.received.clear();
        exchange(self.machine, self.context);
    }
}

/// Exchanges the actor's context with its twin.
#[inline]
fn exchange<S>(machine: &mut CaseMachine<S>, context: &mut Context<DynActor>) {
    if let Some(twin) = &mut machine.context.actor {
        exchange_with_twin(context, twin);
    }
}
