//! An actor at work: which message it takes next, by which cases, and which it skips.
//!
//! A message that no case takes is *skipped*: it waits here, in order. What may be taken now is tried
//! again before anything that waits in the mailbox: one message a turn, so that signals come in
//! between. Those whose types fit no case are looked at again only when the cases change.

use std::any::Any;
use std::collections::VecDeque;

use coact_actor::actor::{AskError, Context, ExitReason, Reply};
use coact_actor::internals::{drop_kept, handle_next, limit_of_kept, set_aside, twin_of};
use coact_core::credits::Permit;
use coact_tuple::{AnyTuple, Atom};

use crate::after_clock::AfterClock;
use crate::context::{Answer, Awaited, Change, DynCases, DynContext, Received, Requested};
use crate::skipped::Skipped;
use crate::types::{DynActor, DynMessage, Extra, GoOn, Machine, Sender};

/// What an actor does first.
pub(crate) type Init<S> = Box<dyn FnOnce(&mut DynContext<S>) + Send>;

/// The machine of an actor whose state is an `S`.
pub(crate) struct Engine<S> {
    context: DynContext<S>,
    init: Option<Init<S>>,
    /// The cases in use, and below them those that come back.
    cases: Option<DynCases<S>>,
    kept: Vec<DynCases<S>>,
    skipped: Skipped<Letter>,
    /// Answers to wait for before all else, the innermost last.
    awaited: Vec<(Awaited<S>, Option<Answered>)>,
    /// Answers that have come while others are awaited, with the cases for them.
    deferred: VecDeque<(DynCases<S>, Answered)>,
    clock: AfterClock,
    /// Whether a turn before the next message was requested.
    goes_on: bool,
}

/// What comes of a request.
pub(crate) type Answered = Result<AnyTuple, AskError>;

/// A message that has left the mailbox.
struct Letter {
    tuple: AnyTuple,
    sender: Sender,
    tag: Option<Atom>,
    room: Option<Permit>,
    reply: Option<Reply<AnyTuple>>,
}

impl Letter {
    fn new(message: DynMessage, reply: Option<Reply<AnyTuple>>) -> Self {
        let DynMessage { tuple, sender, extra } = message;
        let Extra { tag, room } = extra.map_or_else(Extra::default, |extra| *extra);
        Self { tuple, sender, tag, room, reply }
    }

    fn into_message(self) -> (DynMessage, Reply<AnyTuple>) {
        let Self { tuple, sender, tag, room, reply } = self;
        let has_extra = tag.is_some() || room.is_some();
        let extra = has_extra.then(|| Box::new(Extra { tag, room }));
        (DynMessage { tuple, sender, extra }, reply.unwrap_or_else(Reply::unwanted))
    }
}

impl<S: Send + 'static> Engine<S> {
    pub(crate) fn new(state: S, init: Init<S>) -> Self {
        Self {
            context: DynContext::new(state),
            init: Some(init),
            cases: None,
            kept: Vec::new(),
            skipped: Skipped::default(),
            awaited: Vec::new(),
            deferred: VecDeque::new(),
            clock: AfterClock::default(),
            goes_on: false,
        }
    }

    /// Whether an answer comes before all else.
    fn is_awaiting(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Gives the message to the cases.
    ///
    /// # Errors
    /// Returns it if none takes it.
    fn take(&mut self, letter: Letter) -> Result<(), Letter> {
        let Some(cases) = &mut self.cases else { return Err(letter) };
        let Letter { tuple, sender, tag, mut room, reply } = letter;
        let answer = reply.map_or(Answer::Sent, Answer::Asked);
        self.context.received = Received { sender, tag, answer };
        cases.apply_admitted(&mut self.context, tuple, &mut room).map_err(|tuple| {
            let Received { sender, tag, answer } = std::mem::take(&mut self.context.received);
            let reply = match answer {
                Answer::Asked(reply) => Some(reply),
                Answer::Sent | Answer::Given => None,
            };
            Letter { tuple, sender, tag, room, reply }
        })
    }

    fn take_or_skip(&mut self, letter: Letter) {
        let untaken = if self.is_awaiting() { Err(letter) } else { self.take(letter) };
        match untaken {
            Ok(()) => self.handled(),
            Err(letter) => self.skip(letter),
        }
    }

    fn skip(&mut self, letter: Letter) {
        let fits = self.cases.as_mut().is_some_and(|cases| cases.may_take(&letter.tuple));
        self.skipped.push(letter.tuple.shape(), fits, letter);
        let context = self.context.actor();
        let limit = limit_of_kept::<DynActor, DynMessage>(context).unwrap_or(usize::MAX);
        if self.skipped.len() > limit
            && let Some(oldest) = self.skipped.pop()
        {
            let (message, reply) = oldest.into_message();
            drop_kept(context, message, reply);
        }
    }

    /// Takes the oldest skipped message that a case takes now, if there is one.
    fn retry(&mut self) -> bool {
        let mut behind = None;
        while let Some(place) = self.skipped.next_fitting(behind) {
            if let Some(letter) = self.skipped.take(place) {
                match self.take(letter) {
                    Ok(()) => {
                        self.skipped.remove(place);
                        return true;
                    }
                    Err(letter) => self.skipped.put_back(place, letter),
                }
            }
            behind = Some(place);
        }
        false
    }

    /// Does what the cases that have just run have requested.
    fn handled(&mut self) {
        self.context.received = Received::default();
        let Requested { changes, awaits, .. } = &mut self.context.requested;
        self.awaited.extend(awaits.drain(..).map(|awaited| (awaited, None)));
        if changes.is_empty() {
            self.clock.restart();
        } else {
            self.change();
        }
        if self.cases.is_none() && self.context.requested.open == 0 {
            self.context.stop();
        }
        self.request_turn();
    }

    fn change(&mut self) {
        for change in self.context.requested.changes.drain(..) {
            match change {
                Change::Replace(cases) => self.cases = Some(cases),
                Change::Push(cases) => self.kept.extend(self.cases.replace(cases)),
                Change::Pop => self.cases = self.kept.pop(),
            }
        }
        let cases = &mut self.cases;
        self.skipped.refit(|letter: &Letter| {
            cases.as_mut().is_some_and(|cases| cases.may_take(&letter.tuple))
        });
        let after = cases.as_ref().and_then(DynCases::timeout);
        self.clock.set(after, self.context.actor(), |actor, number, context| {
            if let Some(engine) = actor.machine::<Self>() {
                engine.timed_out(number, context);
            }
        });
    }

    /// Requests a turn before the next message, if there is something to do in it.
    fn request_turn(&mut self) {
        let has_more = match self.awaited.last() {
            Some((_, answered)) => answered.is_some(),
            None => !self.deferred.is_empty() || self.skipped.has_fitting(),
        };
        if has_more && !self.goes_on {
            self.goes_on = true;
            handle_next(self.context.actor(), GoOn);
        }
    }

    /// Takes up an answer that is to be handled among messages.
    pub(crate) fn answered(
        &mut self,
        cases: DynCases<S>,
        answered: Answered,
        context: &mut Context<DynActor>,
    ) {
        let turn = Turn::begin(self, context);
        if turn.engine.is_awaiting() {
            turn.engine.deferred.push_back((cases, answered));
        } else {
            turn.engine.handle_answer(cases, answered);
        }
    }

    /// Takes up an answer that comes before all else.
    pub(crate) fn awaited(
        &mut self,
        number: u64,
        answered: Answered,
        context: &mut Context<DynActor>,
    ) {
        let turn = Turn::begin(self, context);
        let mut awaited = turn.engine.awaited.iter_mut();
        if let Some((_, place)) = awaited.find(|(awaited, _)| awaited.number == number) {
            *place = Some(answered);
            turn.engine.handle_awaited();
        }
    }

    /// Handles the answer that is awaited first, if it has come.
    fn handle_awaited(&mut self) {
        if let Some((Awaited { cases, .. }, Some(answered))) =
            self.awaited.pop_if(|(_, answered)| answered.is_some())
        {
            self.handle_answer(cases, answered);
        }
    }

    fn handle_answer(&mut self, mut cases: DynCases<S>, answered: Answered) {
        self.context.requested.open -= 1;
        self.context.received.answer = Answer::Given;
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

    /// Does what `after` says, unless a message was taken or the cases were changed meanwhile.
    fn timed_out(&mut self, number: u64, context: &mut Context<DynActor>) {
        let Turn { engine, .. } = &mut Turn::begin(self, context);
        let is_awaiting = engine.is_awaiting();
        let again = |actor: &mut DynActor, number, context: &mut Context<DynActor>| {
            if let Some(engine) = actor.machine::<Self>() {
                engine.timed_out(number, context);
            }
        };
        if !engine.clock.is_over(number, is_awaiting, engine.context.actor(), again) {
            return;
        }
        if let Some(cases) = &mut engine.cases {
            cases.time_out(&mut engine.context);
        }
        engine.handled();
    }
}

impl<S: Send + 'static> Machine for Engine<S> {
    fn start(&mut self, context: &mut Context<DynActor>) {
        self.context.actor = Some(twin_of(context));
        let turn = Turn::begin(self, context);
        if let Some(init) = turn.engine.init.take() {
            init(&mut turn.engine.context);
        }
        turn.engine.handled();
    }

    fn receive(
        &mut self,
        message: DynMessage,
        reply: Option<Reply<AnyTuple>>,
        context: &mut Context<DynActor>,
    ) {
        let turn = Turn::begin(self, context);
        turn.engine.take_or_skip(Letter::new(message, reply));
    }

    fn go_on(&mut self, context: &mut Context<DynActor>) {
        let Turn { engine, .. } = &mut Turn::begin(self, context);
        engine.goes_on = false;
        if engine.is_awaiting() {
            engine.handle_awaited();
        } else if let Some((cases, answered)) = engine.deferred.pop_front() {
            engine.handle_answer(cases, answered);
        } else if engine.retry() {
            engine.handled();
        }
    }

    fn give_back(&mut self, context: &mut Context<DynActor>) {
        while let Some(letter) = self.skipped.pop() {
            let (message, reply) = letter.into_message();
            set_aside(context, message, reply);
        }
    }

    fn state(&self) -> &dyn Any {
        self.context.state()
    }

    fn state_mut(&mut self) -> &mut dyn Any {
        self.context.state_mut()
    }
}

/// A turn of the engine, which has the actor's context meanwhile. After a panic, what was received is
/// dropped with it, so that an ask fails for that reason.
struct Turn<'e, S> {
    engine: &'e mut Engine<S>,
    context: &'e mut Context<DynActor>,
}

impl<'e, S> Turn<'e, S> {
    #[inline]
    fn begin(engine: &'e mut Engine<S>, context: &'e mut Context<DynActor>) -> Self {
        exchange(engine, context);
        Self { engine, context }
    }
}

impl<S> Drop for Turn<'_, S> {
    #[inline]
    fn drop(&mut self) {
        self.engine.context.received = Received::default();
        exchange(self.engine, self.context);
    }
}

/// Exchanges the actor's context with its twin.
#[inline]
fn exchange<S>(engine: &mut Engine<S>, context: &mut Context<DynActor>) {
    if let Some(twin) = &mut engine.context.actor {
        std::mem::swap(twin, context);
    }
}
