//! An actor whose body waits for messages in the middle of its code.
//!
//! Its machine has the state while the body waits, and lends it to the body for each message. A
//! fiber is resumed where the message is handled, if that is its worker, and a future is polled
//! there. Otherwise, and for a thread, the handler is finished there: the actor is held meanwhile,
//! and its signals wait.

use std::any::Any;
use std::future::poll_fn;
use std::mem::{forget, swap, take};
use std::panic::resume_unwind;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use coact_actor::actor::{Addr, Context, ExitReason, Reply, WeakAddr};
use coact_actor::internals::{call_behind, call_later, finish_handler, handle_next, own_address};
use coact_core::Promise;
use coact_core::internals::WorkerPlace;
use coact_core::time::Timer;
use coact_tuple::AnyTuple;

use super::exchange::{
    BodyResult, ResumeEvent, StackLoan, StackWait, TimedRequest, UnwindPayload, report_late_panic,
    stop_thread, wake_thread,
};
use super::place::{
    BodyMain, BodyPlace, FiberStart, FutureBody, ParkedBody, StackMain, ThreadStart,
};
use super::stack_settings::{StackKind, StackSettings};
use crate::case_machine::end_exchanged;
use crate::cases::NoMatch;
use crate::dyn_actor::{ActorMachine, DynActor, DynMessage, ExtraTurn};
use crate::received::QueuedMessage;
use crate::skipped_limit;

/// The machine of an actor with a body and a state of type `S`.
pub(super) struct BodyMachine<S: Send + 'static> {
    /// `None` while the stack runs.
    lent: Option<Box<StackLoan<S>>>,
    /// `None` before it begins, while it runs, and once it has ended.
    place: Option<BodyPlace<S>>,
    beginning: Option<BodyMain<S>>,
    /// The actor's address of itself, once it has started.
    address: Option<WeakAddr<DynActor>>,
    clock: WakeClock,
    /// The answer is there that the stack waits for.
    has_answer: bool,
}

/// When the stack goes on without a message.
#[derive(Default)]
struct WakeClock {
    /// How often the stack has begun to wait.
    number: u64,
    pending: Option<PendingTimeout>,
}

struct PendingTimeout {
    timer: Option<Timer>,
    /// With a time in front of it, the stack has something to do, although no address may be left.
    _alive: Option<Addr<DynActor>>,
}

impl Drop for PendingTimeout {
    fn drop(&mut self) {
        if let Some(timer) = &self.timer {
            timer.cancel();
        }
    }
}

impl<S: Send + 'static> BodyMachine<S> {
    pub(super) fn new(state: S, main: BodyMain<S>) -> Self {
        Self {
            lent: Some(StackLoan::new(state)),
            place: None,
            beginning: Some(main),
            address: None,
            clock: WakeClock::default(),
            has_answer: false,
        }
    }

    /// Has the body begin.
    fn begin(&mut self, main: BodyMain<S>, context: &mut Context<DynActor>) -> Result<(), String> {
        let address = own_address(context).clone();
        match main {
            BodyMain::Stack(main, settings) => {
                self.begin_on_stack(address, main, &settings, context)
            }
            BodyMain::Future(main) => {
                if let Some(lent) = self.lent.take() {
                    self.place = Some(BodyPlace::Task(FutureBody::new(address, main, lent)));
                    self.poll_task(context);
                }
                Ok(())
            }
        }
    }

    fn begin_on_stack(
        &mut self,
        address: WeakAddr<DynActor>,
        main: StackMain<S>,
        settings: &StackSettings,
        context: &mut Context<DynActor>,
    ) -> Result<(), String> {
        if settings.wants_fiber()
            && let Some(current) = WorkerPlace::current()
        {
            let stack = settings.take().map_err(|error| format!("it has no stack: {error}"))?;
            let worker = settings.worker(current);
            let start = FiberStart { stack, name: settings.name(), address, main };
            if worker.is_current() {
                self.place = Some(BodyPlace::Fiber(start.on(worker)));
                self.resume(context);
            } else if let Some(lent) = self.lent.take() {
                self.finish(context, start.begin_there(worker, lent));
            }
        } else {
            let may_block = settings.kind() == StackKind::Thread;
            let (stack_size, spawned_at) = (settings.size(), settings.spawned_at());
            let start = ThreadStart { stack_size, may_block, spawned_at, address, main };
            let waits = start
                .start(self.lent.take())
                .map_err(|error| format!("the operating system has refused a thread: {error}"))?;
            self.finish(context, waits);
        }
        Ok(())
    }

    /// The worker of its fiber.
    fn worker(&self) -> Option<WorkerPlace> {
        match &self.place {
            Some(BodyPlace::Fiber(fiber)) => Some(fiber.worker()),
            _ => None,
        }
    }

    /// Has the stack go on.
    #[inline(always)]
    fn resume(&mut self, context: &mut Context<DynActor>) {
        let Some(mut lent) = self.lent.take() else { return };
        if let Some(BodyPlace::Fiber(fiber)) = &mut self.place {
            lent = match fiber.resume(lent) {
                Ok(lent) => return self.waits(lent, context),
                Err(lent) => lent,
            };
        }
        self.resume_other(lent, context);
    }

    /// Has a stack go on that is no fiber of this worker.
    #[inline(never)]
    fn resume_other(&mut self, lent: Box<StackLoan<S>>, context: &mut Context<DynActor>) {
        if let Some(BodyPlace::Task(task)) = &mut self.place {
            let polled = task.resume(lent);
            return self.task_waits(polled, context);
        }
        self.resume_elsewhere(lent, context);
    }

    #[cold]
    fn resume_elsewhere(&mut self, mut lent: Box<StackLoan<S>>, context: &mut Context<DynActor>) {
        match self.place.take() {
            Some(BodyPlace::Fiber(fiber)) => self.finish(context, fiber.resume_there(lent)),
            Some(BodyPlace::Thread(wake)) => self.finish(context, wake_thread(wake, lent)),
            // It has ended: there is nothing that could take the message.
            Some(BodyPlace::Task(_)) | None => {
                lent.message = QueuedMessage::default();
                self.lent = Some(lent);
            }
        }
    }

    /// Begins with a body that is a future.
    fn poll_task(&mut self, context: &mut Context<DynActor>) {
        if let Some(BodyPlace::Task(task)) = &mut self.place {
            let polled = task.poll(&mut TaskContext::from_waker(Waker::noop()));
            self.task_waits(polled, context);
        }
    }

    /// Takes the state back from a future that waits for a message. While it awaits something else,
    /// it holds the actor.
    fn task_waits(
        &mut self,
        polled: Poll<Option<Box<StackLoan<S>>>>,
        context: &mut Context<DynActor>,
    ) {
        match polled {
            Poll::Ready(Some(lent)) => self.waits(lent, context),
            Poll::Ready(None) => {
                let why = "its body has leaked what it was lent (`DynTask`)";
                context.stop_with(ExitReason::Failed(why.into()));
            }
            Poll::Pending => context.hold(Reply::unwanted(), |actor, context| {
                Box::pin(async move {
                    let Some(machine) = actor.machine::<Self>() else { return };
                    let lent = poll_fn(|waker| match &mut machine.place {
                        Some(BodyPlace::Task(task)) => task.poll(waker),
                        _ => Poll::Ready(None),
                    });
                    let lent = lent.await;
                    machine.task_waits(Poll::Ready(lent), context);
                })
            }),
        }
    }

    /// Finishes the handler once the stack, which was resumed on another thread, waits again.
    fn finish<R>(&mut self, context: &mut Context<DynActor>, parked: Promise<R>)
    where
        R: Into<ParkedBody<S>> + Send + 'static,
    {
        finish_handler(context, move |actor, context| {
            Box::pin(async move {
                let (place, lent) = until_parked(parked).await;
                let Some(machine) = actor.machine::<Self>() else { return };
                let Some(lent) = lent else {
                    return context.stop_with(ExitReason::Failed("its stack is lost".into()));
                };
                machine.place = place;
                machine.waits(lent, context);
                let worker = machine.worker();
                actor.stays_on(worker, context);
            })
        });
    }

    /// Finishes the handler once the stack is unwound.
    fn finish_end<R>(&mut self, context: &mut Context<DynActor>, parked: Promise<R>)
    where
        R: Into<ParkedBody<S>> + Send + 'static,
    {
        finish_handler(context, move |actor, _| {
            Box::pin(async move {
                let (_, lent) = until_parked(parked).await;
                if let (Some(machine), Some(mut lent)) = (actor.machine::<Self>(), lent) {
                    report_late_panic(&mut lent);
                    machine.lent = Some(lent);
                }
            })
        });
    }

    /// Takes the state back from a stack that waits, and sees to it that what it waits for comes.
    #[inline]
    fn waits(&mut self, lent: Box<StackLoan<S>>, context: &mut Context<DynActor>) {
        let waits_simply = matches!(lent.wait, StackWait::Message) && self.clock.pending.is_none();
        forget(self.lent.replace(lent));
        if !waits_simply {
            self.waits_for_more(context);
        }
    }

    #[cold]
    fn waits_for_more(&mut self, context: &mut Context<DynActor>) {
        let Some(lent) = &mut self.lent else { return };
        if matches!(lent.wait, StackWait::Other) {
            return skipped_limit::limit(&mut lent.skipped, context);
        }
        // The wait that had a time limit is over.
        self.clock.number += 1;
        self.clock.pending = None;
        match lent.wait {
            StackWait::Message | StackWait::Other => {}
            StackWait::MessageFor(after) => self.wait_for(after, context),
            StackWait::Answer => {
                if let Some(request) = lent.request.take() {
                    Self::request(*request, context);
                }
            }
            StackWait::Ended => {
                let ended = lent.ended.take();
                self.ended(ended.unwrap_or(Ok(())), context);
            }
            StackWait::Nothing => self.place = None,
        }
    }

    /// Has the stack go on after a time, unless it begins another wait by then.
    #[cold]
    fn wait_for(&mut self, after: Duration, context: &mut Context<DynActor>) {
        let number = self.clock.number;
        let late = move |actor: &mut DynActor, context: &mut Context<DynActor>| {
            if let Some(machine) = actor.machine::<Self>()
                && machine.clock.number == number
                && machine.next(ResumeEvent::Late, context).is_some()
            {
                machine.resume(context);
            }
        };
        let _alive = own_address(context).upgrade();
        let timer = match after.is_zero() {
            true => {
                call_behind(context, late);
                None
            }
            false => Some(call_later(context, after, late)),
        };
        self.clock.pending = Some(PendingTimeout { timer, _alive });
    }

    /// Sends a request, and holds the actor until the answer is there that its stack waits for.
    fn request(request: TimedRequest, context: &mut Context<DynActor>) {
        context.hold(Reply::unwanted(), move |actor, context| {
            Box::pin(async move {
                let TimedRequest { to, message, after } = request;
                // Sent by what holds the actor, it counts in the search for circles.
                let answered = to.0.ask(message).timeout(after).await;
                if let Some(machine) = actor.machine::<Self>()
                    && let Some(lent) = &mut machine.lent
                {
                    lent.answer = Some(answered);
                    machine.has_answer = true;
                    handle_next(context, ExtraTurn);
                }
            })
        });
    }

    /// Ends the actor, whose body has ended.
    #[cold]
    fn ended(&mut self, ended: BodyResult, context: &mut Context<DynActor>) {
        self.place = None;
        match ended {
            Ok(()) => context.stop(),
            // It was stopped, or has caught that and ended.
            Err(payload) if payload.is::<UnwindPayload>() => context.stop(),
            Err(payload) => resume_unwind(payload),
        }
    }

    /// What the stack gets if it goes on. `None` if a behaviour has exchanged the actor for another
    /// one, which ends it.
    #[inline]
    fn next(
        &mut self,
        event: ResumeEvent,
        context: &mut Context<DynActor>,
    ) -> Option<&mut StackLoan<S>> {
        if !self.is_own(context) {
            end_exchanged(context);
            return None;
        }
        let lent = self.lent.as_mut()?;
        lent.event = event;
        Some(lent)
    }

    /// Whether no behaviour has exchanged the actor for another one.
    #[inline]
    fn is_own(&self, context: &Context<DynActor>) -> bool {
        self.address.as_ref().is_some_and(|own| own == own_address(context))
    }
}

impl<S: Send + 'static> ActorMachine for BodyMachine<S> {
    fn start(&mut self, context: &mut Context<DynActor>) -> Option<WorkerPlace> {
        self.address = Some(own_address(context).clone());
        let Some(main) = self.beginning.take() else {
            end_exchanged(context);
            return None;
        };
        if let Err(why) = self.begin(main, context) {
            context.stop_with(ExitReason::Failed(why.into()));
        }
        self.worker()
    }

    #[inline]
    fn receive(&mut self, message: &mut DynMessage, context: &mut Context<DynActor>) {
        if let Some(lent) = self.next(ResumeEvent::Message, context) {
            // What was there was taken: the caller gets an empty message.
            swap(&mut lent.message.message, message);
            self.resume(context);
        }
    }

    fn receive_asked(
        &mut self,
        message: &mut DynMessage,
        reply: Reply<AnyTuple>,
        context: &mut Context<DynActor>,
    ) {
        if let Some(lent) = self.next(ResumeEvent::Message, context) {
            lent.message = QueuedMessage { message: take(message), reply: Some(reply) };
            self.resume(context);
        }
    }

    /// Unwinds the stack, if that is elsewhere: a new one is not to begin before, and the end is
    /// not told.
    fn prepare_end(&mut self, context: &mut Context<DynActor>) -> bool {
        if matches!(&self.place, Some(BodyPlace::Fiber(fiber)) if fiber.is_here()) {
            // It is unwound when this is dropped.
            return false;
        }
        if let Some(BodyPlace::Task(task)) =
            self.place.take_if(|place| matches!(place, BodyPlace::Task(_)))
        {
            self.lent = task.cancel(self.lent.take());
            return false;
        }
        let Some(lent) = self.lent.take() else { return false };
        match self.place.take() {
            Some(BodyPlace::Fiber(fiber)) => self.finish_end(context, fiber.unwind_there(lent)),
            Some(BodyPlace::Thread(wake)) => self.finish_end(context, stop_thread(wake, lent)),
            Some(BodyPlace::Task(_)) | None => {
                self.lent = Some(lent);
                return false;
            }
        }
        true
    }

    fn go_on(&mut self, context: &mut Context<DynActor>) {
        if take(&mut self.has_answer) && self.next(ResumeEvent::Answer, context).is_some() {
            self.resume(context);
        }
    }

    fn give_back(&mut self, context: &mut Context<DynActor>) {
        if let Some(lent) = &mut self.lent {
            skipped_limit::give_back(&mut lent.skipped, context);
        }
    }

    fn skipped(&self) -> Vec<NoMatch> {
        let skipped = self.lent.iter().flat_map(|lent| lent.skipped.all());
        skipped.map(|queued| NoMatch::of_body(&queued.message.tuple)).collect()
    }

    fn state(&self) -> &dyn Any {
        match &self.lent {
            Some(lent) => &lent.state,
            None => &(),
        }
    }

    fn state_mut(&mut self) -> &mut dyn Any {
        match &mut self.lent {
            Some(lent) => &mut lent.state,
            // Of no size: nothing is leaked.
            None => Box::leak(Box::new(())),
        }
    }
}

/// Waits until a body is parked. Returns where it waits, unless it has ended, and what it gives
/// back.
async fn until_parked<S, R>(parked: Promise<R>) -> (Option<BodyPlace<S>>, Option<Box<StackLoan<S>>>)
where
    S: Send + 'static,
    R: Into<ParkedBody<S>> + Send + 'static,
{
    parked.await.map_or((None, None), |parked| parked.into().into_parts())
}

/// The actor has ended, or gets a new state: its stack is unwound.
impl<S: Send + 'static> Drop for BodyMachine<S> {
    fn drop(&mut self) {
        drop(ParkedBody::new(self.place.take(), self.lent.take()));
    }
}
