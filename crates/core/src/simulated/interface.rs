//! What a simulation can be asked and told.

use std::fmt::{self, Display};
use std::num::NonZeroU64;
use std::panic::Location;
use std::time::Duration;

use crate::fault::Fault;
use crate::runtime_ids::RuntimeId;
use crate::task::TaskPtr;

/// Writes a description, for reports.
pub type WaitDescription = fn(&mut fmt::Formatter<'_>) -> fmt::Result;

/// Identifies behaviours and futures in a simulation. Never reused, so that leftovers of one run
/// are not mistaken for objects of another.
pub(crate) type WorkId = NonZeroU64;

/// A location in the program.
pub(crate) type SpawnSite = &'static Location<'static>;

/// A condition without side effects.
pub(crate) type WakeCondition<'a> = dyn Fn() -> bool + 'a;

/// A run of a program under the simulation's own scheduler. Promises are identified by the
/// addresses of their cells, cowns by those of their headers.
#[cfg_attr(not(feature = "sim"), allow(dead_code))]
pub(crate) trait Simulation {
    /// See [`point`](super::point).
    fn point(&self);
    /// See [`give_way`](super::give_way).
    fn give_way(&self, at: SpawnSite, condition: &WakeCondition<'_>);
    /// See [`block_until`](super::block_until).
    fn block_until(&self, what: &dyn Display, at: SpawnSite, condition: &WakeCondition<'_>);
    /// See [`block_for`](super::block_for).
    fn block_for(
        &self,
        what: &dyn Display,
        at: SpawnSite,
        time: Option<Duration>,
        condition: &WakeCondition<'_>,
    ) -> bool;
    /// Returns the behaviour that the thread is simulating.
    fn body(&self) -> Option<SimulatedBody>;
    /// See [`now`](super::now).
    fn now(&self) -> u64;
    /// See [`rank`](super::rank).
    fn rank(&self, cown: usize) -> usize;

    /// See [`free_id`](super::free_id).
    fn free_id(&self) -> Option<RuntimeId>;
    /// See [`adopt`](super::adopt).
    fn adopt(&self, runtime: RuntimeId);
    /// See [`tell`](super::tell).
    fn tell(&self, fault: &Fault);
    /// See [`ready`](super::ready).
    fn ready(&self, task: TaskPtr, home: RuntimeId);
    /// See [`spawn_blocking`](super::spawn_blocking).
    fn spawn_blocking(&self, job: BlockingJob, run: Box<dyn FnOnce()>);
    /// Returns the number of tasks of a runtime that are ready, and of those that have begun and
    /// not ended.
    fn tasks_of(&self, home: RuntimeId) -> TaskCounts;
    /// See [`pump_pending`](super::pump_pending).
    fn pump_pending(&self, home: RuntimeId, at: SpawnSite) -> usize;
    /// See [`pump_until`](super::pump_until).
    fn pump_until(&self, home: RuntimeId, at: SpawnSite, stop: &mut dyn FnMut() -> bool);
    /// See [`pump_until_idle`](super::pump_until_idle).
    fn pump_until_idle(
        &self,
        home: RuntimeId,
        at: SpawnSite,
        time: Option<Duration>,
        are_idle: &WakeCondition<'_>,
    ) -> bool;

    /// Takes note of something that has happened.
    fn note(&self, what: SimObservation<'_>);
    /// Registers a spawned behaviour; see [`SpawnedWork`](super::SpawnedWork).
    fn spawned(&self, name: fn() -> &'static str, promise: Option<usize>) -> WorkId;
    /// Registers a future; see [`PolledFuture`](super::PolledFuture).
    fn future(&self, what: WaitDescription, promise: Option<usize>, in_thread: bool) -> WorkId;
    /// Called before a future is polled: returns the promise that was polled last before this.
    fn begin_poll(&self) -> Option<usize>;
    /// Writes a description of a promise.
    fn describe(&self, cell: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// What a simulation is told. It decides nothing here: it takes note, for the ranks of cowns and
/// for reports.
#[cfg_attr(not(feature = "sim"), allow(dead_code))]
pub(crate) enum SimObservation<'a> {
    /// A cown, or the leader of a group, was created at this address.
    MadeCown(usize),
    /// A promise was created.
    MadePromise { cell: usize, at: SpawnSite },
    /// This completes a promise.
    OwedBy { cell: usize, what: WaitDescription },
    /// A promise takes its value from another one.
    Follows { cell: usize, of: usize },
    /// A request has been handled, and its reply may come later.
    Handled { cell: usize },
    /// A promise was polled before it was complete.
    Polled { cell: usize },
    /// A behaviour is about to be spawned from here.
    Spawns { at: SpawnSite },
    /// A behaviour is this task, and waits in these queues.
    StandsIn { behaviour: WorkId, task: usize, queues: &'a mut dyn Iterator<Item = usize> },
    /// A behaviour has acquired its cowns and runs.
    Begins { behaviour: WorkId },
    /// A behaviour keeps its cowns, and does not run.
    Detains { behaviour: WorkId },
    /// A behaviour has ended.
    Ended { behaviour: WorkId },
    /// A future was polled; `before` is the result of [`Simulation::begin_poll`].
    EndPoll { future: WorkId, before: Option<usize> },
    /// A future has ended.
    FutureEnded { future: WorkId },
}

/// A behaviour that a thread is simulating.
#[cfg_attr(not(feature = "sim"), allow(dead_code))]
#[derive(Clone, Copy)]
pub(crate) struct SimulatedBody {
    pub(crate) may_block: bool,
}

/// The tasks of a runtime.
#[cfg_attr(not(feature = "sim"), allow(dead_code))]
#[derive(Clone, Copy)]
pub(crate) struct TaskCounts {
    pub(crate) ready: usize,
    /// Those that have begun and not ended.
    pub(crate) begun: usize,
}

/// A blocking job.
#[cfg_attr(not(feature = "sim"), allow(dead_code))]
pub(crate) struct BlockingJob {
    /// Its runtime.
    pub(crate) home: RuntimeId,
    /// The name of its type.
    pub(crate) name: &'static str,
    /// The promise that it completes at its end.
    pub(crate) promise: usize,
}
