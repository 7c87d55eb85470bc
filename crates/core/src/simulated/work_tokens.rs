//! Tokens of the behaviours and futures that a simulation knows.

use std::task::Poll;

#[cfg(feature = "sim")]
use super::installed::with;
use super::interface::{SimObservation, Simulation, WaitDescription, WorkId};

/// An object that a simulation knows, if there was a simulation when it was created.
#[derive(Debug)]
struct KnownObject {
    #[cfg(feature = "sim")]
    id: Option<WorkId>,
}

impl KnownObject {
    #[cfg(feature = "sim")]
    fn new(begin: impl FnOnce(&'static dyn Simulation) -> WorkId) -> Self {
        Self { id: with(begin) }
    }

    #[cfg(not(feature = "sim"))]
    #[inline(always)]
    fn new(_: impl FnOnce(&'static dyn Simulation) -> WorkId) -> Self {
        Self {}
    }

    #[cfg(feature = "sim")]
    fn with<R>(&self, tell: impl FnOnce(&'static dyn Simulation, WorkId) -> R) -> Option<R> {
        with(|simulation| self.id.map(|id| tell(simulation, id))).flatten()
    }

    #[cfg(not(feature = "sim"))]
    #[inline(always)]
    fn with<R>(&self, _: impl FnOnce(&'static dyn Simulation, WorkId) -> R) -> Option<R> {
        None
    }

    /// Tells the simulation something about this object.
    #[inline(always)]
    fn note<'a>(&self, what: impl FnOnce(WorkId) -> SimObservation<'a>) {
        self.with(|simulation, id| simulation.note(what(id)));
    }
}

/// A behaviour in a simulation, from spawn to end.
pub(crate) struct SpawnedWork(KnownObject);

impl SpawnedWork {
    #[inline(always)]
    pub(crate) fn new(name: fn() -> &'static str, promise: Option<usize>) -> Self {
        Self(KnownObject::new(|simulation| simulation.spawned(name, promise)))
    }

    /// Says that the behaviour is this task, and waits in these queues.
    #[inline(always)]
    pub(crate) fn stands_in(&self, task: usize, mut queues: impl Iterator<Item = usize>) {
        self.0.note(|behaviour| SimObservation::StandsIn { behaviour, task, queues: &mut queues });
    }

    /// Says that the behaviour has acquired its cowns and runs.
    #[inline(always)]
    pub(crate) fn begins(&self) {
        self.0.note(|behaviour| SimObservation::Begins { behaviour });
    }

    /// Says that the behaviour keeps its cowns, and does not run.
    #[inline(always)]
    pub(crate) fn detains(&self) {
        self.0.note(|behaviour| SimObservation::Detains { behaviour });
    }
}

#[cfg(feature = "sim")]
impl Drop for SpawnedWork {
    fn drop(&mut self) {
        self.0.note(|behaviour| SimObservation::Ended { behaviour });
    }
}

/// A future in a simulation, polled by the runtime or by a layer above.
#[derive(Debug)]
pub struct PolledFuture(KnownObject);

impl PolledFuture {
    /// Registers a future; `what` describes it in reports.
    pub fn new(what: WaitDescription) -> Self {
        Self::note(what, None, false)
    }

    /// Registers a future that a thread polls and that waits for a wake-up through a promise.
    pub(crate) fn in_thread(what: WaitDescription, woken: usize) -> Self {
        Self::note(what, Some(woken), true)
    }

    /// Registers a future whose output completes a promise.
    pub(crate) fn keeping(what: WaitDescription, promise: usize) -> Self {
        Self::note(what, Some(promise), false)
    }

    #[inline(always)]
    fn note(what: WaitDescription, promise: Option<usize>, in_thread: bool) -> Self {
        Self(KnownObject::new(|simulation| simulation.future(what, promise, in_thread)))
    }

    /// Polls the future. The promises it polls are what it waits for.
    #[inline(always)]
    pub fn polls<R>(&self, poll: impl FnOnce() -> Poll<R>) -> Poll<R> {
        let before = self.0.with(|simulation, _| simulation.begin_poll());
        let result = poll();
        self.0.note(|future| SimObservation::EndPoll { future, before: before.flatten() });
        result
    }
}

#[cfg(feature = "sim")]
impl Drop for PolledFuture {
    fn drop(&mut self) {
        self.0.note(|future| SimObservation::FutureEnded { future });
    }
}
