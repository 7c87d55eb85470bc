//! What an actor and its stack pass each other: the state, and why it goes to the other side.

use std::any::Any;
use std::mem::take;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use coact_actor::actor::{AskError, ExitReason, WeakAddr};
use coact_actor::internals::{UnwindReason, end_reason};
use coact_core::Promise;
use coact_core::internals::{IdleWait, drop_quietly, tell_of_panic, wait_for};
use coact_core::promise::Resolver;
use coact_core::runtime::{Busy, RuntimeHandle};
use coact_fiber::suspend;
use coact_tuple::AnyTuple;

use crate::dyn_actor::{DynActor, DynAddr, DynMessage};
use crate::received::QueuedMessage;
use crate::skipped::SkippedMessages;

/// What the stack has while it runs, and the actor while the stack waits. It is passed as one
/// pointer: so all that is said meanwhile is in here.
pub(super) struct StackLoan<S> {
    pub(super) state: S,
    pub(super) skipped: SkippedMessages<QueuedMessage>,
    /// Why the stack runs.
    pub(super) event: ResumeEvent,
    pub(super) message: QueuedMessage,
    pub(super) answer: Option<Result<AnyTuple, AskError>>,
    /// What the stack waits for.
    pub(super) wait: StackWait,
    /// With [`StackWait::Answer`].
    pub(super) request: Option<Box<TimedRequest>>,
    /// With [`StackWait::Ended`].
    pub(super) ended: Option<BodyResult>,
    /// With [`ResumeEvent::Stop`], if the actor has ended.
    pub(super) end_reason: Option<ExitReason>,
}

/// How a body has ended.
pub(super) type BodyResult = Result<(), Box<dyn Any + Send>>;

/// Why a stack runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ResumeEvent {
    /// It begins.
    Begin,
    /// The message is there.
    Message,
    /// Nothing has come in time.
    Late,
    /// The answer is there that it waits for.
    Answer,
    /// The actor has ended: it is to be unwound.
    Stop,
}

/// What a stack waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum StackWait {
    /// Nothing: it runs, or is to be unwound and catches that again and again.
    Nothing,
    /// A message.
    Message,
    /// A message, for so long.
    MessageFor(Duration),
    /// Another message, since it has skipped the last one: no longer than that wait.
    Other,
    /// The answer to a request.
    Answer,
    /// Nothing: its body has ended.
    Ended,
}

/// A request, and how long its answer is waited for.
pub(super) struct TimedRequest {
    pub(super) to: DynAddr,
    pub(super) message: DynMessage,
    pub(super) after: Duration,
}

impl<S> StackLoan<S> {
    pub(super) fn new(state: S) -> Box<Self> {
        Box::new(Self {
            state,
            skipped: SkippedMessages::default(),
            event: ResumeEvent::Begin,
            message: QueuedMessage::default(),
            answer: None,
            wait: StackWait::Nothing,
            request: None,
            ended: None,
            end_reason: None,
        })
    }

    /// Keeps a message that has come to a wait which was given up.
    pub(super) fn keep_message(&mut self) {
        if self.event == ResumeEvent::Message {
            let queued = take(&mut self.message);
            self.skipped.push(queued.message.tuple.type_key(), false, queued);
        }
    }

    pub(super) fn end(&mut self, ended: BodyResult) {
        self.wait = StackWait::Ended;
        self.ended = Some(ended);
    }
}

/// Where a body that is a future puts what it gives back, and finds it again.
pub(super) struct LoanSlot<S>(Mutex<Option<Box<StackLoan<S>>>>);

impl<S> LoanSlot<S> {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(None)))
    }

    pub(super) fn put(&self, lent: Box<StackLoan<S>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(lent);
    }

    pub(super) fn take(&self) -> Option<Box<StackLoan<S>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What a body that is a future begins with.
pub(super) struct TaskSide<S> {
    pub(super) address: WeakAddr<DynActor>,
    pub(super) lent: Box<StackLoan<S>>,
    pub(super) slot: Arc<LoanSlot<S>>,
}

/// A thread that waits, with what has it go on, unless it has ended.
pub(super) struct ParkedThread<S: Send + 'static> {
    /// `None` if it has lost it: it was stopped without.
    pub(super) lent: Option<Box<StackLoan<S>>>,
    pub(super) wake: Option<Resolver<ThreadWake<S>>>,
}

/// It is not needed any more: the thread is to unwind its stack.
impl<S: Send + 'static> Drop for ParkedThread<S> {
    fn drop(&mut self) {
        match (self.lent.take(), self.wake.take()) {
            (Some(lent), Some(wake)) => drop(stop_thread(wake, lent)),
            (Some(mut lent), None) => report_late_panic(&mut lent),
            (None, _) => {}
        }
    }
}

/// Reports the panic of a body whose actor had ended before, unless that is what has unwound it.
pub(super) fn report_late_panic<S>(lent: &mut StackLoan<S>) {
    if let Some(Err(payload)) = lent.ended.take()
        && !payload.is::<UnwindPayload>()
    {
        drop_quietly(|| resume_unwind(payload));
    }
}

/// What unwinds a stack whose actor has ended.
pub(super) struct UnwindPayload;

/// Has a thread unwind its stack, which has its state meanwhile, and gives it back then.
pub(super) fn stop_thread<S: Send + 'static>(
    wake: Resolver<ThreadWake<S>>,
    mut lent: Box<StackLoan<S>>,
) -> Promise<ParkedThread<S>> {
    lent.event = ResumeEvent::Stop;
    lent.end_reason = end_reason();
    wake_thread(wake, lent)
}

/// Has a thread go on. The promise is kept when it waits again.
pub(super) fn wake_thread<S: Send + 'static>(
    wake: Resolver<ThreadWake<S>>,
    lent: Box<StackLoan<S>>,
) -> Promise<ParkedThread<S>> {
    let (done, parked) = Promise::channel();
    wake.resolve(ThreadWake { lent, done, busy: RuntimeHandle::current().hold_open() });
    parked
}

/// What has a thread go on.
pub(super) struct ThreadWake<S: Send + 'static> {
    pub(super) lent: Box<StackLoan<S>>,
    /// Where it says that it waits again.
    pub(super) done: Resolver<ParkedThread<S>>,
    /// Its runtime has work until it has said that.
    pub(super) busy: Busy,
}

/// What a fiber is resumed with: nothing if it has ended.
pub(super) type Resumption<S> = Option<Box<StackLoan<S>>>;

/// Where a thread that runs says that it waits again, and what keeps its runtime busy until then.
type ParkNotice<S> = (Resolver<ParkedThread<S>>, Busy);

/// How a stack waits, and what tells destructors on it why it is unwound.
pub(super) enum ParkMode<S: Send + 'static> {
    Fiber(UnwindReason),
    /// On a thread of its own, which may block like others, or stands for a fiber.
    Thread(Option<ParkNotice<S>>, UnwindReason),
}

impl<S: Send + 'static> ParkMode<S> {
    /// Waits until the actor has it go on; `None` if it never will.
    #[inline(always)]
    #[track_caller]
    pub(super) fn park(&mut self, lent: Box<StackLoan<S>>) -> Resumption<S> {
        match self {
            Self::Fiber(_) => suspend::<Resumption<S>, Box<StackLoan<S>>>(lent),
            Self::Thread(notice, _) => block(notice, lent),
        }
    }

    /// Waits for ever.
    pub(super) fn leave(&mut self, lent: Option<Box<StackLoan<S>>>) -> ! {
        match self {
            Self::Fiber(_) => {
                let mut lent = lent.expect("a fiber is stopped with its state");
                lent.wait = StackWait::Nothing;
                drop(suspend::<Resumption<S>, Box<StackLoan<S>>>(lent));
                unreachable!("it is forgotten")
            }
            Self::Thread(notice, _) => {
                let notice = notice.take();
                drop_quietly(move || drop((lent, notice)));
                let (_never, promise) = Promise::<()>::channel();
                let _idle = IdleWait::begin();
                drop(wait_for(promise, &"nothing: its body has caught its end too often"));
                unreachable!("the promise is never kept")
            }
        }
    }

    /// What tells destructors why the stack is unwound.
    pub(super) fn unwinding(&self) -> &UnwindReason {
        match self {
            Self::Fiber(unwinding) | Self::Thread(_, unwinding) => unwinding,
        }
    }

    /// Says that the body has ended.
    pub(super) fn end(self, lent: Option<Box<StackLoan<S>>>, ended: BodyResult) {
        // Where it was unwound to: the panic is over that its destructors have seen.
        if let Err(payload) = &ended {
            tell_of_panic(&**payload);
        }
        match self {
            Self::Fiber(_) => {
                let mut lent = lent.expect("a fiber is stopped with its state");
                lent.end(ended);
                drop(suspend::<Resumption<S>, Box<StackLoan<S>>>(lent));
            }
            Self::Thread(notice, _) => end_thread(notice, lent, ended),
        }
    }
}

/// Blocks a thread until it is woken.
#[track_caller]
fn block<S: Send + 'static>(
    notice: &mut Option<ParkNotice<S>>,
    lent: Box<StackLoan<S>>,
) -> Resumption<S> {
    let (wake, woken) = Promise::channel();
    let (done, busy) = notice.take()?;
    done.resolve(ParkedThread { lent: Some(lent), wake: Some(wake) });
    drop(busy);
    let idle = IdleWait::begin();
    let woken = wait_for(woken, &"a tuple to this actor");
    drop(idle);
    let ThreadWake { lent, done, busy } = woken.ok()?;
    *notice = Some((done, busy));
    Some(lent)
}

fn end_thread<S: Send + 'static>(
    notice: Option<ParkNotice<S>>,
    mut lent: Option<Box<StackLoan<S>>>,
    ended: BodyResult,
) {
    if let Some(lent) = &mut lent {
        lent.end(ended);
    }
    if let Some((done, busy)) = notice {
        done.resolve(ParkedThread { lent, wake: None });
        drop(busy);
    }
}
