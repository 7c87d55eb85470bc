//! An actor whose body is a future: its view of itself.

use std::fmt::{self, Debug, Formatter};
use std::future::poll_fn;
use std::mem::{forget, take};
use std::sync::Arc;
use std::task::Poll;

use coact_actor::actor::{SendError, WeakAddr};
use coact_tuple::{AnyTuple, Atom, IntoTuple};

use super::exchange::{LoanSlot, ResumeEvent, StackLoan, StackWait, TaskSide, TimedRequest};
use super::take::{ReceivingBody, take_answer};
use crate::cases::Cases;
use crate::dyn_actor::{DynActor, DynAddr, DynMessage};
use crate::received::{DynReply, QueuedMessage, ReceivedMessage, message};
use crate::skipped::SkippedMessages;

/// The view that an actor has of itself whose body is a future: see
/// [`spawn_async`](crate::spawn_async).
///
/// It is like a [`DynThread`](crate::DynThread), but that its waits are awaited: so cases cannot
/// receive themselves. They return what the body goes on with.
pub struct DynTask<S: Send + 'static = ()> {
    address: WeakAddr<DynActor>,
    /// `None` while the body waits for a message.
    lent: Option<Box<StackLoan<S>>>,
    slot: Arc<LoanSlot<S>>,
    received: ReceivedMessage,
}

impl<S: Send + 'static> DynTask<S> {
    pub(super) fn new(TaskSide { address, lent, slot }: TaskSide<S>) -> Self {
        Self { address, lent: Some(lent), slot, received: ReceivedMessage::default() }
    }

    /// The actor's address.
    ///
    /// # Panics
    /// In an actor that has ended: in what its end drops, for instance.
    #[must_use]
    pub fn address(&self) -> DynAddr {
        DynAddr(self.address.upgrade().expect("an actor is alive while its body runs"))
    }

    /// The state, which behaviours over its [`StateAddr`](crate::StateAddr) see as well while the
    /// body waits for a message: nothing borrowed from it is kept over a wait.
    ///
    /// # Panics
    /// If the body has leaked a wait that has begun, and so what it would get back.
    #[track_caller]
    pub fn state(&self) -> &S {
        &self.lent.as_ref().expect(LEAKED).state
    }

    /// The same to write to.
    ///
    /// # Panics
    /// See [`state`](Self::state).
    #[track_caller]
    pub fn state_mut(&mut self) -> &mut S {
        &mut self.lent.as_mut().expect(LEAKED).state
    }

    /// Sends a tuple, with this actor as its sender.
    ///
    /// # Errors
    /// See [`DynAddr::send`].
    pub fn send(&self, to: &DynAddr, tuple: impl IntoTuple) -> Result<(), SendError<AnyTuple>> {
        to.send_message(message(&self.address, to, tuple))
    }

    /// Who has sent the message that is being handled; `None` if that is unknown.
    #[must_use]
    pub fn sender(&self) -> Option<DynAddr> {
        self.received.sender(&self.address)
    }

    /// The tag of the message that is being handled, if it has one.
    #[must_use]
    pub fn tag(&self) -> Option<Atom> {
        self.received.header.tag()
    }

    /// Whether an answer to the message that is being handled is waited for.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.received.is_asked()
    }

    /// Answers the message that is being handled: see
    /// [`DynContext::reply`](crate::DynContext::reply).
    pub fn reply(&mut self, tuple: impl IntoTuple) {
        self.received.reply(&self.address, AnyTuple::new(tuple));
    }

    /// Takes the right to answer the message that is being handled, which a case returns for the
    /// body to use: see [`DynContext::take_reply`](crate::DynContext::take_reply).
    pub fn take_reply(&mut self) -> DynReply {
        self.received.take_reply(&self.address)
    }

    /// Passes a tuple on as the message that is being handled: see
    /// [`DynContext::forward`](crate::DynContext::forward).
    ///
    /// # Errors
    /// Returns the tuple if it cannot be delivered; an ask fails then.
    pub fn forward(
        &mut self,
        to: &DynAddr,
        tuple: impl IntoTuple,
    ) -> Result<(), SendError<AnyTuple>> {
        self.received.forward(&self.address, to, DynMessage::new(tuple))
    }

    /// Takes the oldest message that a case takes, and waits until there is one. The others stay,
    /// in their order, for later calls. With an `after`, that is done when the time since the call
    /// has passed; a time of zero takes what is there.
    ///
    /// **If it is dropped** before it is done, no message is lost.
    pub async fn receive<R>(&mut self, mut cases: Cases<'_, Self, R>) -> R {
        if let Some(result) = self.take_skipped(&mut cases) {
            return result;
        }
        let mut wait = cases.timeout().map_or(StackWait::Message, StackWait::MessageFor);
        loop {
            match self.park(wait).await {
                ResumeEvent::Message => {
                    let lent = self.lent.as_mut().expect(LEAKED);
                    let QueuedMessage { message: DynMessage { mut tuple, header }, reply } =
                        take(&mut lent.message);
                    self.received.begin(header, reply);
                    if let Some(result) = self.apply(&mut cases, &mut tuple) {
                        if tuple.is_plain() {
                            forget(tuple);
                        }
                        return result;
                    }
                    self.skip(&cases, tuple);
                }
                ResumeEvent::Late => return cases.time_out(self).expect("there is an `after`"),
                _ => {}
            }
            wait = StackWait::Other;
        }
    }

    /// A tuple to be sent as a request, whose answer no other cases see: by
    /// [`TaskRequest::await_`].
    pub fn request(&self, to: &DynAddr, tuple: impl IntoTuple) -> TaskRequest {
        TaskRequest { to: to.clone(), message: message(&self.address, to, tuple) }
    }

    /// Waits until the actor has the body go on.
    async fn park(&mut self, wait: StackWait) -> ResumeEvent {
        /// Takes back what it gives away, if it is dropped meanwhile.
        struct LentParts<'a, S: Send + 'static>(&'a mut DynTask<S>);
        impl<S: Send + 'static> Drop for LentParts<'_, S> {
            fn drop(&mut self) {
                if self.0.lent.is_none()
                    && let Some(mut lent) = self.0.slot.take()
                {
                    lent.keep_message();
                    self.0.lent = Some(lent);
                }
            }
        }
        let parked = LentParts(self);
        let mut begins = Some(wait);
        poll_fn(|_| {
            let me = &mut *parked.0;
            if let Some(wait) = begins.take() {
                let mut lent = me.lent.take().expect(LEAKED);
                (lent.wait, lent.event) = (wait, ResumeEvent::Begin);
                me.slot.put(lent);
                return Poll::Pending;
            }
            let Some(lent) = me.slot.take() else { return Poll::Pending };
            let event = lent.event;
            me.lent = Some(lent);
            Poll::Ready(event)
        })
        .await
    }
}

const LEAKED: &str = "a wait of this actor was leaked, and its state with it";

/// The actor gets back what the body has.
impl<S: Send + 'static> Drop for DynTask<S> {
    fn drop(&mut self) {
        self.received.clear();
        if let Some(lent) = self.lent.take() {
            self.slot.put(lent);
        }
    }
}

impl<S: Send + 'static> ReceivingBody for DynTask<S> {
    fn received(&mut self) -> &mut ReceivedMessage {
        &mut self.received
    }

    fn with_skipped<R>(
        &mut self,
        work: impl FnOnce(&mut SkippedMessages<QueuedMessage>) -> R,
    ) -> R {
        work(&mut self.lent.as_mut().expect(LEAKED).skipped)
    }

    fn with_own<R>(&self, work: impl FnOnce(&WeakAddr<DynActor>) -> R) -> R {
        work(&self.address)
    }
}

impl<S: Send + 'static> Debug for DynTask<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynTask").finish_non_exhaustive()
    }
}

/// A request of an actor whose body is a future, which is sent when it is said what takes its
/// answer: see [`DynTask::request`].
#[must_use = "a request is sent by `await_`; one whose answer is not needed is a `send`"]
pub struct TaskRequest {
    to: DynAddr,
    message: DynMessage,
}

impl TaskRequest {
    /// Sends the request, waits until the answer is there, and gives it to the cases. Meanwhile the
    /// actor is held: messages stay where they are, and so do behaviours over it. If there will be
    /// no answer, the cases get the reason, an [`AskError`](coact_actor::actor::AskError), as a
    /// tuple of one element. After the time of `after`, a later answer is dropped.
    ///
    /// # Panics
    /// If the cases have no `after`, or if none of them takes the answer.
    #[doc(alias = "receive_response")]
    pub async fn await_<S, R>(self, me: &mut DynTask<S>, mut cases: Cases<'_, DynTask<S>, R>) -> R
    where
        S: Send + 'static,
    {
        let Self { to, message } = self;
        let after = cases.timeout().expect(
            "what is awaited needs an `after`: without an answer, the actor would be held for ever",
        );
        me.lent.as_mut().expect(LEAKED).request =
            Some(Box::new(TimedRequest { to, message, after }));
        let answered = loop {
            me.park(StackWait::Answer).await;
            if let Some(answered) = me.lent.as_mut().expect(LEAKED).answer.take() {
                break answered;
            }
        };
        take_answer(me, &mut cases, answered)
    }
}

impl Debug for TaskRequest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskRequest").finish_non_exhaustive()
    }
}
