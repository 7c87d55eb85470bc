//! Where the messages of a thread come from: a mailbox of its own, or that of the actor whose stack
//! it is.

use std::cell::{OnceCell, RefCell};
use std::mem::{forget, replace, take};
use std::panic::resume_unwind;
use std::rc::Rc;
use std::thread::panicking;
use std::time::Duration;

use coact_actor::actor::{AskError, WeakAddr};
use coact_core::internals::stack_depth;
use coact_core::runtime::{RuntimeHandle, may_block};
use coact_tuple::AnyTuple;
use tracing::error;

use super::exchange::{ParkMode, ResumeEvent, StackLoan, StackWait, TimedRequest, UnwindPayload};
use super::inbox::{InboxNext, ThreadInbox};
use crate::dyn_actor::{DynActor, DynAddr, DynMessage};
use crate::received::{QueuedMessage, ReceivedMessage};
use crate::skipped::SkippedMessages;

/// How often a body may catch the end of its actor before it is left where it is.
const SWALLOWED: u32 = 1_000;

pub(super) enum MessageSource<S: Send + 'static> {
    /// A plain thread, whose state is of no use.
    Thread { of: Rc<ThreadState>, state: Box<S> },
    /// The stack of an actor.
    Body(StackBody<S>),
}

/// What belongs to a plain thread.
#[derive(Default)]
pub(super) struct ThreadState {
    pub(super) inbox: OnceCell<ThreadInbox>,
    skipped: RefCell<SkippedMessages<QueuedMessage>>,
}

impl ThreadState {
    fn inbox(&self) -> &ThreadInbox {
        self.inbox.get_or_init(ThreadInbox::default)
    }

    /// Waits for a message until the deadline. Out of the way of bodies.
    #[inline(never)]
    #[track_caller]
    fn next(&self, deadline: Option<Duration>, received: &mut ReceivedMessage) -> ReceiveOutcome {
        let left = deadline.map(|deadline| deadline.saturating_sub(now()));
        match self.inbox().next(left) {
            InboxNext::Message(QueuedMessage { message, reply }) => {
                received.begin(message.header, reply);
                ReceiveOutcome::Message(message.tuple)
            }
            InboxNext::Late => ReceiveOutcome::Late,
            InboxNext::Nothing => ReceiveOutcome::Nothing,
        }
    }
}

/// The stack of an actor, from within.
pub(super) struct StackBody<S: Send + 'static> {
    address: WeakAddr<DynActor>,
    lent: Option<Box<StackLoan<S>>>,
    parking: ParkMode<S>,
    /// The [depth](stack_depth) at which it goes on: in a call that changes the state of its thread
    /// until it returns, it is larger.
    depth: u32,
    /// How often it was told that it has ended.
    stops: u32,
}

/// What a wait for a message has come to.
pub(super) enum ReceiveOutcome {
    Message(AnyTuple),
    /// Nothing, in time.
    Late,
    /// Nothing yet.
    Nothing,
}

impl<S: Send + 'static> MessageSource<S> {
    /// The stack of this actor, which was resumed for the first time.
    pub(super) fn body(
        address: WeakAddr<DynActor>,
        lent: Option<Box<StackLoan<S>>>,
        parking: ParkMode<S>,
    ) -> Self {
        Self::Body(StackBody { address, lent, parking, depth: stack_depth(), stops: 0 })
    }

    pub(super) fn address(&self) -> DynAddr {
        match self {
            Self::Thread { of, .. } => of.inbox().address(),
            Self::Body(body) => DynAddr(
                body.address.upgrade().expect("an actor with a stack is alive while it runs"),
            ),
        }
    }

    #[inline]
    pub(super) fn with_own<R>(&self, work: impl FnOnce(&WeakAddr<DynActor>) -> R) -> R {
        match self {
            Self::Body(body) => work(&body.address),
            Self::Thread { of, .. } => work(&of.inbox().weak_address()),
        }
    }

    #[track_caller]
    pub(super) fn state(&self) -> &S {
        match self {
            Self::Thread { state, .. } => state,
            Self::Body(body) => &body.lent.as_ref().unwrap_or_else(|| is_gone()).state,
        }
    }

    #[track_caller]
    pub(super) fn state_mut(&mut self) -> &mut S {
        match self {
            Self::Thread { state, .. } => state,
            Self::Body(body) => &mut body.lent.as_mut().unwrap_or_else(|| is_gone()).state,
        }
    }

    /// Refuses to wait where that would hold up others, or never end.
    #[track_caller]
    pub(super) fn assert_may_wait(&self) {
        match self {
            Self::Thread { .. } => assert_plain("`DynThread::receive`"),
            Self::Body(body) => body.assert_may_wait(),
        }
    }

    /// Works with the messages that were skipped. It must not wait meanwhile.
    #[inline]
    pub(super) fn with_skipped<R>(
        &mut self,
        work: impl FnOnce(&mut SkippedMessages<QueuedMessage>) -> R,
    ) -> R {
        match self {
            Self::Thread { of, .. } => work(&mut of.skipped.borrow_mut()),
            Self::Body(StackBody { lent: Some(lent), .. }) => work(&mut lent.skipped),
            Self::Body(_) => work(&mut SkippedMessages::default()),
        }
    }

    /// Waits for a message, and notes what is known of it besides its tuple. Sets the deadline at
    /// which a plain thread is late.
    #[inline]
    #[track_caller]
    pub(super) fn next(
        &mut self,
        after: Option<Duration>,
        deadline: &mut Option<Duration>,
        received: &mut ReceivedMessage,
    ) -> ReceiveOutcome {
        match self {
            Self::Body(body) => {
                body.next(after.map_or(StackWait::Message, StackWait::MessageFor), received)
            }
            Self::Thread { of, .. } => {
                *deadline = after.map(|after| now().saturating_add(after));
                of.next(*deadline, received)
            }
        }
    }

    /// Waits for another message, since the last one was skipped, in the time of the same wait.
    #[inline(never)]
    #[track_caller]
    pub(super) fn next_in_time(
        &mut self,
        deadline: Option<Duration>,
        received: &mut ReceivedMessage,
    ) -> ReceiveOutcome {
        match self {
            Self::Body(body) => body.next(StackWait::Other, received),
            Self::Thread { of, .. } => of.next(deadline, received),
        }
    }

    /// Waits for an answer; messages stay where they are.
    #[track_caller]
    pub(super) fn wait_for(
        &mut self,
        to: DynAddr,
        request: DynMessage,
        after: Duration,
    ) -> Result<AnyTuple, AskError> {
        match self {
            Self::Thread { .. } => to.0.ask(request).timeout(after).wait(),
            Self::Body(body) => body.wait_for(TimedRequest { to, message: request, after }),
        }
    }
}

impl<S: Send + 'static> StackBody<S> {
    #[track_caller]
    fn assert_may_wait(&self) {
        if panicking() {
            refuse_in_panic();
        }
        if stack_depth() != self.depth {
            refuse_inside();
        }
    }

    /// Inlined where it is called, as is all up to the switch: each call in between would save all
    /// registers again, which a switch changes.
    #[inline(always)]
    #[track_caller]
    fn next(&mut self, wait: StackWait, received: &mut ReceivedMessage) -> ReceiveOutcome {
        let lent = self.park(wait);
        match lent.event {
            ResumeEvent::Message => {
                let QueuedMessage { message, reply } = &mut lent.message;
                received.begin(take(&mut message.header), reply.take());
                ReceiveOutcome::Message(take(&mut message.tuple))
            }
            ResumeEvent::Late => ReceiveOutcome::Late,
            _ => ReceiveOutcome::Nothing,
        }
    }

    #[track_caller]
    fn wait_for(&mut self, request: TimedRequest) -> Result<AnyTuple, AskError> {
        self.assert_may_wait();
        if let Some(lent) = &mut self.lent {
            lent.request = Some(Box::new(request));
        }
        let lent = self.park(StackWait::Answer);
        lent.answer.take().expect("the actor is held until the answer is there")
    }

    /// Leaves the stack until there is something to do. Unwinds it if the actor has ended.
    #[inline(always)]
    #[track_caller]
    fn park(&mut self, wait: StackWait) -> &mut StackLoan<S> {
        if self.stops > 0 {
            self.stop();
        }
        let Some(mut lent) = self.lent.take() else { self.stop() };
        lent.wait = wait;
        let lent = self.parking.park(lent);
        self.depth = stack_depth();
        // It was taken above: there is nothing to drop.
        forget(replace(&mut self.lent, lent));
        match &mut self.lent {
            Some(lent) if lent.event != ResumeEvent::Stop => {}
            _ => self.stop(),
        }
        self.lent.as_mut().expect("it was there")
    }

    /// Unwinds the stack; without a word of the panic hook: it is no fault.
    #[cold]
    fn stop(&mut self) -> ! {
        self.stops += 1;
        if self.stops > SWALLOWED {
            error!(
                actor = %self.address.id(),
                "an actor has ended, and its body catches the panic that unwinds its stack, again and again: it \
                 is left where it is"
            );
            self.parking.leave(self.lent.take());
        }
        let reason = self.lent.as_ref().and_then(|lent| lent.end_reason.clone());
        self.parking.unwinding().begin(reason);
        resume_unwind(Box::new(UnwindPayload));
    }

    /// What the stack gives back at its end.
    pub(super) fn into_parts(self) -> (Option<Box<StackLoan<S>>>, ParkMode<S>) {
        (self.lent, self.parking)
    }
}

#[cold]
#[track_caller]
fn refuse_in_panic() -> ! {
    panic!(
        "an actor cannot receive in the destructor of what a panic, or the actor's end, unwinds"
    );
}

#[cold]
#[track_caller]
fn refuse_inside() -> ! {
    panic!(
        "an actor cannot receive inside of a behaviour or a handler that its body runs inline, nor in a destructor \
         that the runtime runs: receive behind that, or leave it to a message"
    );
}

#[cold]
#[track_caller]
fn is_gone() -> ! {
    panic!("the actor has ended, and its state with it");
}

#[track_caller]
pub(super) fn assert_plain(what: &str) {
    assert!(
        may_block(),
        "{what} is for plain threads: a behaviour, a handler or a future runs on whatever worker is free, and \
         must not wait there; use the context that cases have, and `become_`, or an actor with a stack of its \
         own (`spawn_fiber`)"
    );
}

fn now() -> Duration {
    RuntimeHandle::of_any().elapsed()
}
