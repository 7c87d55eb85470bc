//! Where the body of an actor waits: on a fiber, which stays on the worker that has started it, on
//! a thread, or as a future.

use std::io;
use std::mem::forget;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::thread::{self, panicking};

use coact_actor::actor::WeakAddr;
use coact_actor::internals::{UnwindReason, end_reason};
use coact_core::Promise;
use coact_core::internals::{
    ThreadBound, WorkerPlace, as_body, is_simulated, on_other_stack, serve,
};
use coact_core::promise::Resolver;
use coact_core::runtime::RuntimeHandle;
use coact_fiber::{Fiber, FiberLabel, ResumeOutcome, Stack};
use tracing::error;

use super::exchange::{
    LoanSlot, ParkMode, ParkedThread, ResumeEvent, Resumption, StackLoan, StackWait, TaskSide,
    ThreadWake, report_late_panic, stop_thread,
};
use super::stack_settings::StackSettings;
use crate::dyn_actor::DynActor;

/// What an actor of this kind runs.
pub(super) enum BodyMain<S: Send + 'static> {
    Stack(StackMain<S>, Arc<StackSettings>),
    Future(FutureMain<S>),
}

/// What runs on a stack.
pub(super) type StackMain<S> =
    Box<dyn FnOnce(WeakAddr<DynActor>, Resumption<S>, ParkMode<S>) + Send>;

/// Makes the future.
pub(super) type FutureMain<S> = Box<dyn FnOnce(TaskSide<S>) -> BodyFuture + Send>;

type BodyFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where a body waits.
pub(super) enum BodyPlace<S: Send + 'static> {
    Fiber(WorkerFiber<S>),
    Thread(Resolver<ThreadWake<S>>),
    /// The body is a future.
    Task(FutureBody<S>),
}

/// A body that waits again, unless it has ended, and what it gives back. If this is dropped, its
/// stack is unwound.
pub(super) struct ParkedBody<S: Send + 'static> {
    place: Option<BodyPlace<S>>,
    lent: Option<Box<StackLoan<S>>>,
}

impl<S: Send + 'static> ParkedBody<S> {
    pub(super) fn new(place: Option<BodyPlace<S>>, lent: Option<Box<StackLoan<S>>>) -> Self {
        Self { place, lent }
    }

    /// Returns where it waits, and what it gives back.
    pub(super) fn into_parts(mut self) -> (Option<BodyPlace<S>>, Option<Box<StackLoan<S>>>) {
        (self.place.take(), self.lent.take())
    }
}

impl<S: Send + 'static> Drop for ParkedBody<S> {
    fn drop(&mut self) {
        match (self.place.take(), self.lent.take()) {
            (Some(BodyPlace::Fiber(fiber)), Some(lent)) => fiber.end(lent),
            (Some(BodyPlace::Thread(wake)), Some(lent)) => drop(stop_thread(wake, lent)),
            (Some(BodyPlace::Task(task)), Some(lent)) => task.end(lent),
            // It has not begun, runs elsewhere, or has ended.
            _ => {}
        }
    }
}

impl<S: Send + 'static> From<ParkedThread<S>> for ParkedBody<S> {
    fn from(mut parked: ParkedThread<S>) -> Self {
        Self { place: parked.wake.take().map(BodyPlace::Thread), lent: parked.lent.take() }
    }
}

/// A body that is a future, which is polled where its messages are handled.
pub(super) struct FutureBody<S: Send + 'static> {
    future: BodyFuture,
    slot: Arc<LoanSlot<S>>,
}

impl<S: Send + 'static> FutureBody<S> {
    /// A task that has what it was lent, and has not begun.
    pub(super) fn new(
        address: WeakAddr<DynActor>,
        main: FutureMain<S>,
        lent: Box<StackLoan<S>>,
    ) -> Self {
        let slot = LoanSlot::new();
        let future = main(TaskSide { address, lent, slot: Arc::clone(&slot) });
        Self { future, slot }
    }

    /// Goes on with it. `Pending` if it awaits something else than its messages.
    pub(super) fn resume(&mut self, lent: Box<StackLoan<S>>) -> Poll<Option<Box<StackLoan<S>>>> {
        self.slot.put(lent);
        self.poll(&mut TaskContext::from_waker(Waker::noop()))
    }

    /// Polls it. `Ready(None)` means that the body has ended and leaked what it was lent.
    pub(super) fn poll(
        &mut self,
        context: &mut TaskContext<'_>,
    ) -> Poll<Option<Box<StackLoan<S>>>> {
        let is_done = self.future.as_mut().poll(context).is_ready();
        let mut lent = self.slot.take();
        match &mut lent {
            Some(lent) if is_done => lent.end(Ok(())),
            None if !is_done => return Poll::Pending,
            _ => {}
        }
        Poll::Ready(lent)
    }

    /// Drops the body, which has its state meanwhile; returns that.
    pub(super) fn cancel(self, lent: Option<Box<StackLoan<S>>>) -> Option<Box<StackLoan<S>>> {
        if let Some(lent) = lent {
            self.slot.put(lent);
        }
        drop(self.future);
        self.slot.take()
    }

    fn end(self, lent: Box<StackLoan<S>>) {
        drop(self.cancel(Some(lent)));
    }
}

/// A fiber, and the worker on which alone it can go on: what is on its stack may be tied to that
/// thread.
///
/// It goes on, and is unwound, only while the worker runs: not once its thread destroys its
/// thread-locals, of which the stack may have borrowed some.
pub(super) struct WorkerFiber<S: Send + 'static> {
    /// `None` once it has ended.
    fiber: Option<ThreadBound<FiberOf<S>>>,
    worker: WorkerPlace,
}

type FiberOf<S> = Fiber<Resumption<S>, Box<StackLoan<S>>>;

/// How a fiber begins.
pub(super) struct FiberStart<S: Send + 'static> {
    pub(super) stack: Stack,
    /// What runs on it, for reports.
    pub(super) name: &'static str,
    pub(super) address: WeakAddr<DynActor>,
    pub(super) main: StackMain<S>,
}

impl<S: Send + 'static> FiberStart<S> {
    /// A fiber of this worker, which is the calling thread.
    pub(super) fn on(self, worker: WorkerPlace) -> WorkerFiber<S> {
        let Self { stack, name, address, main } = self;
        let advice = "give it more with `ThreadSpawn::stack_size`";
        let label = FiberLabel { name, number: address.id().get(), advice };
        let body = move |lent| main(address, lent, ParkMode::Fiber(UnwindReason::default()));
        let fiber = Some(ThreadBound::here(Fiber::new(stack, label, body)));
        WorkerFiber { fiber, worker }
    }

    /// The same on another worker, until it waits for the first time. The promise breaks if that
    /// worker has ended.
    pub(super) fn begin_there(
        self,
        worker: WorkerPlace,
        lent: Box<StackLoan<S>>,
    ) -> Promise<ParkedBody<S>> {
        there(worker, move || self.on(worker).resume_until_parked(lent))
    }
}

/// Has a worker do something with a fiber.
fn there<S: Send + 'static>(
    worker: WorkerPlace,
    work: impl FnOnce() -> ParkedBody<S> + Send + 'static,
) -> Promise<ParkedBody<S>> {
    let (done, parked) = Promise::channel();
    drop(worker.call(Box::new(move || done.resolve(work()))));
    parked
}

impl<S: Send + 'static> WorkerFiber<S> {
    pub(super) fn worker(&self) -> WorkerPlace {
        self.worker
    }

    /// Goes on with it, until it waits again.
    ///
    /// # Errors
    /// Returns what it was to get if it cannot go on here: on another thread, or in the middle of a
    /// panic, which would be counted for what it does.
    #[inline(always)]
    pub(super) fn resume(
        &mut self,
        lent: Box<StackLoan<S>>,
    ) -> Result<Box<StackLoan<S>>, Box<StackLoan<S>>> {
        match self.fiber.as_mut().and_then(ThreadBound::reach_mut) {
            Some(fiber) if self.worker.is_current() && !panicking() => {
                let lent = resume(fiber, lent);
                if matches!(lent.wait, StackWait::Ended) {
                    self.finish();
                }
                Ok(lent)
            }
            _ => Err(lent),
        }
    }

    /// Lets a fiber whose body has ended take its last step, and gives its stack back.
    #[cold]
    fn finish(&mut self) {
        if let Some(mut fiber) = self.fiber.take().map(ThreadBound::into_inner) {
            on_other_stack(|| fiber.resume(None));
        }
    }

    /// Goes on with it, for a job of its worker.
    fn resume_until_parked(mut self, lent: Box<StackLoan<S>>) -> ParkedBody<S> {
        match self.resume(lent) {
            Ok(lent) => ParkedBody::new(Some(BodyPlace::Fiber(self)), Some(lent)),
            Err(lent) => ParkedBody::new(None, Some(lent)),
        }
    }

    /// Goes on with it on its worker. The promise breaks if that has ended.
    pub(super) fn resume_there(self, lent: Box<StackLoan<S>>) -> Promise<ParkedBody<S>> {
        there(self.worker, move || self.resume_until_parked(lent))
    }

    /// Whether it can go on here and now.
    pub(super) fn is_here(&self) -> bool {
        self.worker.is_current() && !panicking()
    }

    /// Unwinds it on its worker, and returns what it gives back. The promise breaks if that has
    /// ended.
    pub(super) fn unwind_there(mut self, mut lent: Box<StackLoan<S>>) -> Promise<ParkedBody<S>> {
        (lent.event, lent.end_reason) = (ResumeEvent::Stop, end_reason());
        there(self.worker, move || {
            let lent = self.resume(lent).unwrap_or_else(|lent| lent);
            self.leave_if_stuck(&lent);
            ParkedBody::new(None, Some(lent))
        })
    }

    /// Leaks the stack of a body that catches its end again and again.
    fn leave_if_stuck(&mut self, lent: &StackLoan<S>) {
        if matches!(lent.wait, StackWait::Nothing)
            && let Some(fiber) = self.fiber.take()
        {
            fiber.into_inner().forget();
        }
    }

    /// Unwinds it, on its worker. If that has ended, the stack is leaked, which is reported.
    fn end(self, mut lent: Box<StackLoan<S>>) {
        (lent.event, lent.end_reason) = (ResumeEvent::Stop, end_reason());
        self.unwind(lent);
    }

    fn unwind(mut self, lent: Box<StackLoan<S>>) {
        if self.fiber.is_none() {
            return;
        }
        match self.resume(lent) {
            Ok(mut lent) => {
                self.leave_if_stuck(&lent);
                report_late_panic(&mut lent);
            }
            Err(lent) => {
                let worker = self.worker;
                drop(worker.call(Box::new(move || self.unwind(lent))));
            }
        }
    }
}

impl<S: Send + 'static> Drop for WorkerFiber<S> {
    fn drop(&mut self) {
        // It can only be one whose worker has ended: all others are unwound.
        if let Some(fiber) = self.fiber.take() {
            forget(fiber);
            error!(
                worker = ?self.worker,
                "the worker of a fiber has ended before its actor: what is on the fiber's stack is leaked"
            );
        }
    }
}

#[inline(always)]
fn resume<S: Send + 'static>(fiber: &mut FiberOf<S>, lent: Box<StackLoan<S>>) -> Box<StackLoan<S>> {
    match on_other_stack(|| fiber.resume(Some(lent))) {
        ResumeOutcome::Suspended(lent) => lent,
        ResumeOutcome::Ended => unreachable!("it says so first"),
    }
}

/// What a thread needs to begin.
pub(super) struct ThreadStart<S: Send + 'static> {
    pub(super) stack_size: Option<usize>,
    /// Whether the body may block: it does not stand for a fiber.
    pub(super) may_block: bool,
    /// Where it was spawned, for reports.
    pub(super) spawned_at: &'static Location<'static>,
    pub(super) address: WeakAddr<DynActor>,
    pub(super) main: StackMain<S>,
}

impl<S: Send + 'static> ThreadStart<S> {
    /// Starts the thread. The promise is kept when it waits for the first time.
    pub(super) fn start(self, lent: Resumption<S>) -> io::Result<Promise<ParkedThread<S>>> {
        let Self { stack_size, may_block, spawned_at, address, main } = self;
        let (done, parked) = Promise::channel();
        let (home, name) = (RuntimeHandle::current(), format!("actor-{}", address.id()));
        let parking = ParkMode::Thread(Some((done, home.hold_open())), UnwindReason::default());
        let run = move || {
            let main = || main(address, lent, parking);
            serve(home, || if may_block { main() } else { as_body(main) });
        };
        if is_simulated() {
            simulate(spawned_at, run);
        } else {
            let settings = thread::Builder::new().name(name);
            let settings = stack_size.into_iter().fold(settings, thread::Builder::stack_size);
            settings.spawn(run)?;
        }
        Ok(parked)
    }
}

#[cfg(feature = "sim")]
fn simulate(spawned_at: &'static Location<'static>, thread: impl FnOnce() + Send + 'static) {
    drop(coact_core::internals::thread_from(spawned_at, thread));
}

#[cfg(not(feature = "sim"))]
fn simulate(_: &'static Location<'static>, _: impl FnOnce() + Send + 'static) {
    unreachable!("there are no simulations without the feature");
}
