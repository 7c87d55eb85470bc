//! Asks of an actor to others.

use std::marker::PhantomData;
use std::time::Duration;

use coact_core::cown::Held;
use coact_core::internals::{Continuation, resolver_spawning};
use coact_core::{Broken, Cown};

use crate::address::WholeCell;
use crate::ask::{Ask, flatten};
use crate::backpressure;
use crate::handler::MessageTo;
use crate::parts::{Actor, ActorCell, Addr, Context};
use crate::reply::{AskResult, Reply};
use crate::send_error::AskError;

impl<A: Actor> Context<A> {
    /// Asks another actor, and delivers the answer to this one like a message: the closure receives
    /// the actor when its turn comes. Meanwhile the actor takes other messages, so this can never
    /// deadlock. If this actor ends or is restarted first, the closure is not called. It is dropped
    /// when the other one answers, or drops the [`Reply`]; and an answer in transit keeps
    /// this actor alive. For a time limit, use [`ask_timeout`](Self::ask_timeout).
    ///
    /// **Cost.** That of a message there and one back.
    pub fn ask<B, M, F>(&mut self, of: &Addr<B>, message: M, then: F)
    where
        B: Actor,
        M: MessageTo<B>,
        F: FnOnce(&mut A, Result<M::Reply, AskError>, &mut Context<A>) + Send + 'static,
    {
        let on_answer = OnAnswer { incarnation: self.incarnation(), then, by: PhantomData };
        let own = self.take_lent().unwrap_or_else(|| self.address());
        let resolver = resolver_spawning(own.into_cown(), on_answer);
        // A message that is not delivered fails its reply, which reports that to the closure.
        drop(of.send_with_resolver(message, Some(resolver)));
    }

    /// Delivers the answer of an ask to this actor, like [`ask`](Self::ask).
    pub fn on_answer<R, F>(&mut self, ask: Ask<R>, then: F)
    where
        R: Send + 'static,
        F: FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
    {
        let (inside, incarnation) = (WholeCell(self.address()), self.incarnation());
        drop(ask.then(&inside, move |cell, answer| {
            cell.call_in(incarnation, |actor, context| then(actor, answer, context));
        }));
    }

    /// Asks like [`ask`](Self::ask), with a time limit: after `timeout` the closure receives
    /// [`AskError::Timeout`], and a later answer is dropped.
    pub fn ask_timeout<B, M, F>(&mut self, of: &Addr<B>, message: M, timeout: Duration, then: F)
    where
        B: Actor,
        M: MessageTo<B>,
        F: FnOnce(&mut A, Result<M::Reply, AskError>, &mut Context<A>) + Send + 'static,
    {
        self.on_answer(of.ask(message).timeout(timeout), then);
    }

    /// Asks another actor, and has **messages and behaviours wait**, after the current handler,
    /// until the answer has been handled: none of them sees the actor in between. No worker waits.
    ///
    /// Several such asks in one handler are queued: they are asked and handled one after the other,
    /// each once, and those that a closure adds come before any message. If the mailbox is bounded
    /// and lets senders [wait](crate::mailbox::Mailbox::wait), this waits for room, too. An ask
    /// whose answer (or room) needs this actor in turn fails ([`AskError::Cycle`]), unless one of
    /// the answers on the circle is given by hand: the owner of a [`Reply`](crate::actor::Reply)
    /// may answer at any time, so a wait for one is never reported as endless. Such a wait ends
    /// with the timeout; there is no form without one, because an actor that never answers would
    /// hold this one forever.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message, spawn};
    /// use coact::actor::AskError;
    /// use std::time::Duration;
    ///
    /// struct Clock(u64);
    /// impl Actor for Clock {}
    ///
    /// struct Now;
    /// impl Message for Now { type Reply = u64; }
    /// impl Handler<Now> for Clock {
    ///     fn handle(&mut self, _: Now, _: &mut Context<Self>) -> u64 { self.0 }
    /// }
    ///
    /// struct Log { clock: coact::Addr<Clock>, at: Option<u64> }
    /// impl Actor for Log {
    ///     fn started(&mut self, context: &mut Context<Self>) {
    ///         let second = Duration::from_secs(1);
    ///         context.ask_await(&self.clock, Now, second, |log, now, _| log.at = now.ok());
    ///     }
    /// }
    ///
    /// let log = spawn(Log { clock: spawn(Clock(7)), at: None });
    /// // No message or behaviour sees a log without its time.
    /// assert_eq!(coact::call(&log, |log| log.at).wait(), Ok(Some(7)));
    /// ```
    pub fn ask_await<B, M, F>(&mut self, of: &Addr<B>, message: M, timeout: Duration, then: F)
    where
        A: Send,
        B: Actor,
        M: MessageTo<B>,
        F: FnOnce(&mut A, Result<M::Reply, AskError>, &mut Context<A>) + Send + 'static,
    {
        let of = of.clone();
        // Asked by the future that holds the actor, so that circles are found.
        self.hold(Reply::unwanted(), move |actor, context| {
            Box::pin(async move {
                let answer = if of.makes_senders_wait::<M>() {
                    backpressure::ask_within(of.to_recipient(), message, timeout).await
                } else {
                    of.ask(message).timeout(timeout).await
                };
                then(actor, answer, context);
            })
        });
    }
}

/// What an actor does with an answer.
struct OnAnswer<A, F> {
    /// The number of the state that has asked.
    incarnation: u32,
    then: F,
    by: PhantomData<fn(A)>,
}

impl<A, R, F> Continuation<AskResult<R>> for OnAnswer<A, F>
where
    A: Actor,
    R: Send + 'static,
    F: FnOnce(&mut A, Result<R, AskError>, &mut Context<A>) + Send + 'static,
{
    type State = ActorCell<A>;

    #[inline(always)]
    fn run(self, held: Held<'_, ActorCell<A>>, answer: Result<AskResult<R>, Broken>) {
        let (cell, own) = held.into_parts();
        cell.call_with(Addr::new(own), self.incarnation, |actor, context| {
            (self.then)(actor, flatten(answer), context);
        });
    }

    fn spawn(self, own: Cown<ActorCell<A>>, answer: Result<AskResult<R>, Broken>) {
        Addr::new(own).call_by_value(self.incarnation, move |actor, context| {
            (self.then)(actor, flatten(answer), context);
        });
    }
}
