//! Requests: messages with an answer that only their own cases see.

use std::fmt::{self, Debug, Formatter};

use coact_actor::actor::{Ask, Context};
use coact_actor::internals::{ask_held, on_answer_weakly};
use coact_tuple::IntoTuple;

use crate::case_machine::CaseMachine;
use crate::context::{AwaitedAnswer, DynCases, DynContext};
use crate::dyn_actor::{DynActor, DynAddr, DynMessage, MessageHeader};

/// A request, which is sent when it is said what takes its answer. See [`DynContext::request`].
#[must_use = "a request is sent by `then` or `await_`; one whose answer is not needed is a `send`"]
pub struct DynRequest {
    to: DynAddr,
    message: DynMessage,
}

impl<S: Send + 'static> DynContext<S> {
    /// A tuple to be sent, whose answer comes to cases of its own: no others see it. It is sent by
    /// [`then`](DynRequest::then) or [`await_`](DynRequest::await_).
    ///
    /// The answer is what the other actor [replies](Self::reply). If there is none, the cases get
    /// the reason, an [`AskError`](coact_actor::actor::AskError), as a tuple of one element: the
    /// actor has ended, or it has handled the message without a reply. An answer, or a reason, that
    /// none of the cases takes ends this actor with an error that says so.
    ///
    /// ```
    /// use coact::actor::AskError;
    /// use coact::dynamic::{DynAddr, DynContext, atom, cases, spawn_dyn};
    /// use std::time::Duration;
    ///
    /// let clock = spawn_dyn(|me: &mut DynContext| {
    ///     me.become_(cases! { |me: &mut DynContext| (atom!("now")) => me.reply(12) });
    /// });
    /// let clerk = spawn_dyn(move |me: &mut DynContext| {
    ///     me.become_(cases! { |me: &mut DynContext|
    ///         (atom!("stamp"), what: String) => {
    ///             let mut reply = me.take_reply();
    ///             me.request(&clock, atom!("now")).then(me, cases! { |me: &mut DynContext|
    ///                 (hour: i32) => reply.send(format!("{what} at {hour}")),
    ///                 (_: AskError) => me.stop(),
    ///                 after Duration::from_secs(1) => reply.send(what.clone()),
    ///             });
    ///         },
    ///     });
    /// });
    /// let stamped = clerk.ask((atom!("stamp"), "a letter")).wait()?;
    /// assert_eq!(stamped.to_string(), "(\"a letter at 12\",)");
    /// # Ok::<(), AskError>(())
    /// ```
    ///
    /// **Cost.** That of a message there and one back, a promise, and what the cases are made of.
    pub fn request(&self, to: &DynAddr, tuple: impl IntoTuple) -> DynRequest {
        let message = self.message(to, tuple);
        DynRequest { to: to.clone(), message }
    }
}

impl DynRequest {
    /// Has the cases take the answer when it comes; the actor takes other messages meanwhile. With
    /// an `after` they are given up then, and a later answer is dropped.
    #[doc(alias = "handle_response")]
    pub fn then<S: Send + 'static>(self, me: &mut DynContext<S>, cases: DynCases<S>) {
        me.requested.open += 1;
        me.requested.is_any = true;
        let Self { to, message } = self;
        let after = cases.timeout();
        let take = move |actor: &mut DynActor, answered, context: &mut Context<DynActor>| {
            if let Some(machine) = actor.machine::<CaseMachine<S>>() {
                machine.answered(cases, answered, context);
            }
        };
        if matches!(message.header.sender(), MessageHeader::FromReceiver) {
            // Skipped by the actor itself, it must not keep that alive.
            let ask = to.0.ask(message);
            let ask = after.into_iter().fold(ask, Ask::timeout);
            return on_answer_weakly(me.actor(), ask, take);
        }
        match after {
            None => me.actor().ask(&to, message, take),
            Some(after) => me.actor().on_answer(to.0.ask(message).timeout(after), take),
        }
    }

    /// Has the cases take the answer, and holds the actor until then: messages wait, and so do
    /// behaviours over it. Of several in one case the last one is handled first.
    ///
    /// If the other actor cannot answer before this one has gone on, the cases get an
    /// [`AskError::Cycle`](coact_actor::actor::AskError::Cycle), which names the circle. One that
    /// has taken its reply to this request ([`take_reply`](DynContext::take_reply)) might give it
    /// at any time: a circle through it ends with the `after`.
    ///
    /// The cases run after the present one, with which the right to answer the message that it
    /// handles ends: take that along with `take_reply`.
    ///
    /// # Panics
    /// If the cases have no `after`: an actor that does not answer would hold up this one for ever.
    #[doc(alias = "receive_response")]
    #[track_caller]
    pub fn await_<S: Send + 'static>(self, me: &mut DynContext<S>, cases: DynCases<S>) {
        let Some(after) = cases.timeout() else {
            panic!(
                "what is awaited needs an `after`: without an answer, no message would ever be handled"
            );
        };
        let answer = ask_held(me.running(), &self.to.0, self.message, after);
        me.requested.open += 1;
        me.requested.is_any = true;
        me.requested.awaits.push(AwaitedAnswer { answer, cases });
    }
}

impl Debug for DynRequest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynRequest").finish_non_exhaustive()
    }
}
