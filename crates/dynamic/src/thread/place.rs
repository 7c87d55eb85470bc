//! What the stack of an actor is: a fiber, which stays on the worker that has started it, or a thread.

use std::io;
use std::thread::{self, panicking};

use coact_actor::actor::WeakAddr;
use coact_core::Promise;
use coact_core::internals::{ThreadBound, WorkerPlace, as_body, is_simulated, serve};
use coact_core::promise::Resolver;
use coact_core::runtime::RuntimeHandle;
use coact_fiber::{Fiber, Label, Resumed, Stack};

use super::exchange::{Event, Lent, Parked, Parking, Resumption, Wait, Wake};
use crate::types::DynActor;

/// What the stack of an actor runs.
pub(super) type Main<S> = Box<dyn FnOnce(WeakAddr<DynActor>, Resumption<S>, Parking<S>) + Send>;

/// A stack that waits.
pub(super) enum Place<S: Send + 'static> {
    Fiber(OnWorker<S>),
    Thread(Resolver<Wake<S>>),
}

/// A fiber, and the worker on which alone it can go on: what is on its stack may be tied to that thread.
pub(super) struct OnWorker<S: Send + 'static> {
    fiber: ThreadBound<Fiber<Resumption<S>, Box<Lent<S>>>>,
    worker: WorkerPlace,
}

impl<S: Send + 'static> OnWorker<S> {
    /// A fiber of this worker, which is the calling thread.
    pub(super) fn new(
        worker: WorkerPlace,
        stack: Stack,
        name: &'static str,
        address: WeakAddr<DynActor>,
        main: Main<S>,
    ) -> Self {
        let advice = "give it more with `ThreadSpawn::stack_size`";
        let label = Label { name, number: address.id().get(), advice };
        let body = move |lent| main(address, lent, Parking::Fiber);
        Self { fiber: ThreadBound::here(Fiber::new(stack, label, body)), worker }
    }

    /// The same on another worker, and what it gives back when it waits for the first time. The promise
    /// breaks if that worker has ended.
    pub(super) fn begin_there(
        worker: WorkerPlace,
        stack: Stack,
        name: &'static str,
        address: WeakAddr<DynActor>,
        main: Main<S>,
        lent: Box<Lent<S>>,
    ) -> Promise<(Self, Box<Lent<S>>)> {
        let (done, waits) = Promise::channel();
        let begin = move || {
            let mut fiber = Self::new(worker, stack, name, address, main);
            let lent = fiber.resume_here(lent);
            done.resolve((fiber, lent));
        };
        drop(worker.call(Box::new(begin)));
        waits
    }

    pub(super) fn worker(&self) -> WorkerPlace {
        self.worker
    }

    /// Goes on with it, until it waits again.
    ///
    /// # Errors
    /// Returns what it was to get if the calling thread is not the one on which it goes on.
    #[inline]
    pub(super) fn resume(&mut self, lent: Box<Lent<S>>) -> Result<Box<Lent<S>>, Box<Lent<S>>> {
        match self.fiber.reach_mut() {
            Some(fiber) => Ok(resume(fiber, lent)),
            None => Err(lent),
        }
    }

    /// The same for a caller on its thread.
    fn resume_here(&mut self, lent: Box<Lent<S>>) -> Box<Lent<S>> {
        resume(self.fiber.get_mut(), lent)
    }

    /// Goes on with it on its worker. The promise breaks if that has ended.
    pub(super) fn resume_there(mut self, lent: Box<Lent<S>>) -> Promise<(Self, Box<Lent<S>>)> {
        let (done, waits) = Promise::channel();
        let worker = self.worker;
        let resume = move || {
            let lent = self.resume_here(lent);
            done.resolve((self, lent));
        };
        drop(worker.call(Box::new(resume)));
        waits
    }

    /// Unwinds it, on its worker. If that has ended, the stack is leaked, which is reported.
    pub(super) fn end(self, lent: Box<Lent<S>>) {
        // In the middle of a panic, what it unwinds with would be a second one.
        if self.fiber.is_within_reach() && !panicking() {
            return self.unwind(lent);
        }
        let worker = self.worker;
        drop(worker.call(Box::new(move || self.unwind(lent))));
    }

    fn unwind(mut self, mut lent: Box<Lent<S>>) {
        lent.event = Event::Stop;
        if matches!(self.resume_here(lent).wait, Wait::Nothing) {
            self.fiber.into_inner().forget();
        }
    }
}

#[inline]
fn resume<S: Send + 'static>(
    fiber: &mut Fiber<Resumption<S>, Box<Lent<S>>>,
    lent: Box<Lent<S>>,
) -> Box<Lent<S>> {
    match fiber.resume(Some(lent)) {
        Resumed::Suspended(lent) => {
            if matches!(lent.wait, Wait::Ended) {
                // What comes is its last step.
                fiber.resume(None);
            }
            lent
        }
        Resumed::Ended => unreachable!("it says so first"),
    }
}

/// What a thread needs to begin.
pub(super) struct ThreadStart<S: Send + 'static> {
    pub(super) stack_size: Option<usize>,
    /// Whether the body may block: it does not stand for a fiber.
    pub(super) may_block: bool,
    pub(super) address: WeakAddr<DynActor>,
    pub(super) main: Main<S>,
}

impl<S: Send + 'static> ThreadStart<S> {
    /// Starts the thread. The promise is kept when it waits for the first time.
    pub(super) fn start(self, lent: Resumption<S>) -> io::Result<Promise<Parked<S>>> {
        let Self { stack_size, may_block, address, main } = self;
        let (done, parked) = Promise::channel();
        let (home, name) = (RuntimeHandle::current(), format!("actor-{}", address.id()));
        let parking = Parking::Thread { goes_on: Some((done, home.hold_open())), may_block };
        let run = move || {
            let main = || main(address, lent, parking);
            serve(home, || if may_block { main() } else { as_body(main) });
        };
        if is_simulated() {
            simulate(run);
        } else {
            let settings = thread::Builder::new().name(name);
            let settings = stack_size.into_iter().fold(settings, thread::Builder::stack_size);
            settings.spawn(run)?;
        }
        Ok(parked)
    }
}

#[cfg(feature = "sim")]
fn simulate(thread: impl FnOnce() + Send + 'static) {
    drop(coact_core::sim::thread(thread));
}

#[cfg(not(feature = "sim"))]
fn simulate(_: impl FnOnce() + Send + 'static) {
    unreachable!("there are no simulations without the feature");
}
