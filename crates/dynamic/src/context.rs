//! The context: what a case has besides what it has matched.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use coact_actor::actor::{Context, ExitReason, SendError, WeakAddr};
use coact_actor::internals::{HeldAsk, own_address};
use coact_core::time::Timer;
use coact_tuple::{AnyTuple, Atom, IntoTuple};

use crate::cases::Cases;
use crate::dyn_actor::{DynActor, DynAddr, DynMessage, MessageHeader};
use crate::received::{DynReply, ReceivedMessage, message};

/// What an actor takes: cases that have its context.
pub type DynCases<S = ()> = Cases<'static, DynContext<S>>;

/// An actor's view of itself: its state, the message that it handles, and what it wants of the
/// runtime.
///
/// ```
/// use coact::dynamic::{DynContext, atom, cases, spawn_dyn_with};
///
/// let counter = spawn_dyn_with(0_u32, |me: &mut DynContext<u32>| {
///     me.become_(cases! { |me: &mut DynContext<u32>|
///         (atom!("add"), n: u32) if *me.state() + n < 100 => {
///             *me.state_mut() += n;
///             me.reply(*me.state());
///         },
///         (atom!("add"), _: u32) => me.reply(atom!("full")),
///     });
/// });
/// assert_eq!(counter.ask((atom!("add"), 60_u32)).wait()?.to_string(), "(60,)");
/// assert_eq!(counter.ask((atom!("add"), 60_u32)).wait()?.to_string(), "('full',)");
/// # Ok::<(), coact::actor::AskError>(())
/// ```
pub struct DynContext<S = ()> {
    state: S,
    /// That of the actor while it runs; otherwise its twin.
    pub(crate) actor: Option<Context<DynActor>>,
    pub(crate) received: ReceivedMessage,
    pub(crate) requested: RequestedChanges<S>,
}

/// What the cases have requested; it is done after them.
pub(crate) struct RequestedChanges<S> {
    /// Whether there is anything of this since the last case.
    pub(crate) is_any: bool,
    /// What is to happen with the stack of cases.
    pub(crate) changes: Vec<CasesChange<S>>,
    /// How many answers are still to come.
    pub(crate) open: usize,
    /// Answers to hold the actor for, the innermost last.
    pub(crate) awaits: Vec<AwaitedAnswer<S>>,
}

pub(crate) enum CasesChange<S> {
    Replace(DynCases<S>),
    Push(DynCases<S>),
    Pop,
}

/// An answer to hold the actor for.
pub(crate) struct AwaitedAnswer<S> {
    pub(crate) answer: HeldAsk<AnyTuple>,
    pub(crate) cases: DynCases<S>,
}

impl<S> Default for RequestedChanges<S> {
    fn default() -> Self {
        Self { is_any: false, changes: Vec::new(), open: 0, awaits: Vec::new() }
    }
}

impl<S> DynContext<S> {
    pub(crate) fn new(state: S) -> Self {
        let (received, requested) = (ReceivedMessage::default(), RequestedChanges::default());
        Self { state, actor: None, received, requested }
    }

    /// The state, which behaviours over its [`StateAddr`](crate::StateAddr) see as well.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// The same to write to.
    pub fn state_mut(&mut self) -> &mut S {
        &mut self.state
    }

    /// The context that every actor has: timers, monitors, links, futures.
    ///
    /// Notifications such as [`Down`](coact_actor::actor::Down) come as tuples of one element. The
    /// closures that some of its methods take get a [`DynActor`], whose state is
    /// [within](DynActor::state_mut).
    pub fn actor(&mut self) -> &mut Context<DynActor> {
        self.actor.as_mut().expect("cases run while the actor does")
    }

    pub(crate) fn running(&self) -> &Context<DynActor> {
        of_running(&self.actor)
    }

    /// The actor's address.
    #[must_use]
    pub fn address(&self) -> DynAddr {
        DynAddr(self.running().address())
    }

    /// Has the actor take these cases instead of the present ones, from the next message on.
    ///
    /// Skipped messages come first if one of the new cases takes them: before all that waits, in
    /// their order.
    ///
    /// # Panics
    /// If they have an `after` of zero, which would never stop being done.
    #[track_caller]
    pub fn become_(&mut self, cases: DynCases<S>) {
        assert_time(&cases);
        self.change(CasesChange::Replace(cases));
    }

    /// Has the actor take these cases, from the next message on, until it
    /// [unbecomes](Self::unbecome): then the present ones come back. Otherwise like
    /// [`become_`](Self::become_).
    ///
    /// # Panics
    /// See [`become_`](Self::become_).
    #[track_caller]
    pub fn become_keeping(&mut self, cases: DynCases<S>) {
        assert_time(&cases);
        self.change(CasesChange::Push(cases));
    }

    /// Drops the present cases: those that [`become_keeping`](Self::become_keeping) has kept come
    /// back. An actor without cases ends normally, unless an answer is still to come.
    pub fn unbecome(&mut self) {
        self.change(CasesChange::Pop);
    }

    fn change(&mut self, change: CasesChange<S>) {
        self.requested.is_any = true;
        self.requested.changes.push(change);
    }

    /// Sends a tuple, with this actor as its sender.
    ///
    /// **Cost.** That of a message, two atomic operations for the sender, and an allocation if the
    /// tuple is not plain data.
    ///
    /// # Errors
    /// Returns the tuple if the actor has ended, or if its mailbox is bounded and refuses it.
    #[inline]
    pub fn send(&self, to: &DynAddr, tuple: impl IntoTuple) -> Result<(), SendError<AnyTuple>> {
        to.send_message(self.message(to, tuple))
    }

    /// The same with a tag: see [`tag`](Self::tag).
    ///
    /// # Errors
    /// See [`send`](Self::send).
    pub fn send_tagged(
        &self,
        to: &DynAddr,
        tag: Atom,
        tuple: impl IntoTuple,
    ) -> Result<(), SendError<AnyTuple>> {
        to.send_message(self.message(to, tuple).tagged(tag))
    }

    /// The same into a lane of the other's mailbox: see
    /// [`Addr::send_in`](coact_actor::actor::Addr::send_in).
    ///
    /// # Errors
    /// See [`send`](Self::send).
    pub fn send_in(
        &self,
        lane: usize,
        to: &DynAddr,
        tuple: impl IntoTuple,
    ) -> Result<(), SendError<AnyTuple>> {
        to.send_message_in(lane, self.message(to, tuple))
    }

    /// Puts this actor into a message to `to` as its sender.
    #[inline]
    pub(crate) fn message(&self, to: &DynAddr, tuple: impl IntoTuple) -> DynMessage {
        message(self.own(), to, tuple)
    }

    pub(crate) fn own(&self) -> &WeakAddr<DynActor> {
        own_address(self.running())
    }

    /// Sends a tuple to this actor itself after a delay. The timer does not keep the actor alive,
    /// and ends with the state.
    pub fn send_later(&mut self, delay: Duration, tuple: impl IntoTuple) -> Timer {
        let message = DynMessage { header: MessageHeader::FromReceiver, ..DynMessage::new(tuple) };
        self.actor().send_later(delay, message)
    }

    /// Who has sent the message that is being handled; `None` if that is unknown.
    #[must_use]
    pub fn sender(&self) -> Option<DynAddr> {
        self.received.sender(self.own())
    }

    /// The tag of the message that is being handled, if it has one.
    #[must_use]
    pub fn tag(&self) -> Option<Atom> {
        self.received.header.tag()
    }

    /// Whether an answer to the message that is being handled is still waited for: it was asked,
    /// not sent, and its asker has not given up. Guards can ask this.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.received.is_asked()
    }

    /// Answers the message that is being handled: if it was asked, its asker, once; if it was sent,
    /// its sender, by a message. If the sender is unknown, or the asker has its answer, the tuple
    /// is dropped.
    pub fn reply(&mut self, tuple: impl IntoTuple) {
        let Self { received, actor, .. } = self;
        received.reply(own_address(of_running(actor)), AnyTuple::new(tuple));
    }

    /// Takes the right to answer the message that is being handled, to answer later: in another
    /// case, or from another thread. (To leave the answer to another actor,
    /// [forward](Self::forward) the message; or [request](Self::request) it from there, and answer
    /// with what comes: then it can be asked of another one if the first fails.)
    #[doc(alias = "response promise")]
    pub fn take_reply(&mut self) -> DynReply {
        let Self { received, actor, .. } = self;
        received.take_reply(own_address(of_running(actor)))
    }

    /// Passes a tuple on as the message that is being handled: with its sender, its tag, and the
    /// duty to answer it. To pass on the message itself, name it:
    /// `message => me.forward(&other, message)`.
    ///
    /// # Errors
    /// Returns the tuple if it cannot be delivered; an ask fails then.
    pub fn forward(
        &mut self,
        to: &DynAddr,
        tuple: impl IntoTuple,
    ) -> Result<(), SendError<AnyTuple>> {
        let Self { received, actor, .. } = self;
        received.forward(own_address(of_running(actor)), to, DynMessage::new(tuple))
    }

    /// Stops the actor after the present case, with [`ExitReason::Normal`].
    #[doc(alias = "quit")]
    pub fn stop(&mut self) {
        self.actor().stop();
    }

    /// The same for another reason.
    pub fn stop_with(&mut self, reason: ExitReason) {
        self.actor().stop_with(reason);
    }
}

#[track_caller]
fn assert_time<S>(cases: &DynCases<S>) {
    let is_endless = cases.timeout().is_some_and(|after| after.is_zero());
    assert!(
        !is_endless,
        "an `after` of zero would never stop being done: send the actor a message"
    );
}

fn of_running(actor: &Option<Context<DynActor>>) -> &Context<DynActor> {
    actor.as_ref().expect("cases run while the actor does")
}

impl<S> Debug for DynContext<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynContext").field("actor", &self.actor).finish_non_exhaustive()
    }
}
