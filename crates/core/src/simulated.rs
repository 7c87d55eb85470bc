//! The interface through which all layers reach a simulation, if one is running.
//!
//! A simulation of this thread ([`Simulation`]) is implemented by the module `sim`, which is above
//! all others. Without one, each function does nothing, or what it does on real threads. Without
//! the feature `sim` there never is one, and they compile to nothing.

use std::fmt::{self, Display};
use std::num::NonZeroU64;
use std::panic::Location;
use std::task::Poll;
use std::time::Duration;

use crate::fault::Fault;
use crate::ids::RuntimeId;
use crate::task::TaskPtr;

/// Writes a description, for reports.
pub type What = fn(&mut fmt::Formatter<'_>) -> fmt::Result;

/// Identifies behaviours and futures in a simulation. Never reused, so that leftovers of one run
/// are not mistaken for objects of another.
pub(crate) type Id = NonZeroU64;

/// A location in the program.
pub(crate) type Site = &'static Location<'static>;

/// A condition without side effects.
pub(crate) type Condition<'a> = dyn Fn() -> bool + 'a;

/// A run of a program under the simulation's own scheduler. Promises are identified by the
/// addresses of their cells, cowns by those of their headers.
#[cfg_attr(not(feature = "sim"), allow(dead_code))]
pub(crate) trait Simulation {
    /// See [`point`].
    fn point(&self);
    /// See [`give_way`].
    fn give_way(&self, at: Site, condition: &Condition<'_>);
    /// See [`block_until`].
    fn block_until(&self, what: &dyn Display, at: Site, condition: &Condition<'_>);
    /// See [`block_for`].
    fn block_for(
        &self,
        what: &dyn Display,
        at: Site,
        time: Option<Duration>,
        condition: &Condition<'_>,
    ) -> bool;
    /// See [`is_inside`].
    fn is_inside(&self) -> bool;
    /// See [`runs_body`].
    fn runs_body(&self) -> bool;
    /// See [`now`].
    fn now(&self) -> u64;
    /// See [`made_cown`].
    fn made_cown(&self, at: usize);
    /// See [`rank`].
    fn rank(&self, cown: usize) -> usize;

    /// See [`free_id`].
    fn free_id(&self) -> Option<RuntimeId>;
    /// See [`adopt`].
    fn adopt(&self, runtime: RuntimeId);
    /// See [`tell`].
    fn tell(&self, fault: &Fault);
    /// See [`ready`].
    fn ready(&self, task: TaskPtr, home: RuntimeId);
    /// See [`spawn_blocking`].
    fn spawn_blocking(&self, job: BlockingJob, run: Box<dyn FnOnce()>);
    /// See [`has_tasks`].
    fn has_tasks(&self, home: RuntimeId) -> bool;
    /// See [`bodies_of`].
    fn bodies_of(&self, home: RuntimeId) -> usize;
    /// See [`pump_pending`].
    fn pump_pending(&self, home: RuntimeId, at: Site) -> usize;
    /// See [`pump_until`].
    fn pump_until(&self, home: RuntimeId, at: Site, stop: &mut dyn FnMut() -> bool);
    /// See [`pump_until_idle`].
    fn pump_until_idle(
        &self,
        home: RuntimeId,
        at: Site,
        time: Option<Duration>,
        are_idle: &Condition<'_>,
    ) -> bool;

    /// See [`made`].
    fn made(&self, cell: usize, at: Site);
    /// See [`owed_by`].
    fn owed_by(&self, cell: usize, what: What);
    /// See [`follows`].
    fn follows(&self, cell: usize, of: usize);
    /// See [`handled`].
    fn handled(&self, cell: usize);
    /// See [`polled`].
    fn polled(&self, cell: usize);
    /// Writes a description of a promise.
    fn describe(&self, cell: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// See [`spawns`].
    fn spawns(&self, at: Site);
    /// See [`Spawned`].
    fn spawned(&self, name: fn() -> &'static str, promise: Option<usize>) -> Id;
    /// See [`Spawned::stands_in`].
    fn stands_in(&self, behaviour: Id, task: usize, queues: &mut dyn Iterator<Item = usize>);
    /// See [`Spawned::begins`].
    fn begins(&self, behaviour: Id);
    /// The behaviour has ended.
    fn ended(&self, behaviour: Id);
    /// See [`Polled`].
    fn future(&self, what: What, promise: Option<usize>, in_thread: bool) -> Id;
    /// Called before a future is polled: returns the promise that was polled last before this.
    fn begin_poll(&self) -> Option<usize>;
    /// Called after the poll, with the result of `begin_poll`.
    fn end_poll(&self, future: Id, before: Option<usize>);
    /// The future has ended.
    fn future_ended(&self, future: Id);
}

#[cfg(feature = "sim")]
thread_local! {
    static SIMULATION: std::cell::Cell<Option<&'static dyn Simulation>> =
        const { std::cell::Cell::new(None) };
}

/// Installs a simulation for what this thread does from here on, or removes it.
#[cfg(feature = "sim")]
pub(crate) fn set(simulation: Option<&'static dyn Simulation>) {
    SIMULATION.set(simulation);
    crate::path_coverage::set_simulated(simulation.is_some());
}

/// Asks the simulation, if there is one.
#[cfg(feature = "sim")]
#[inline(always)]
fn with<R>(ask: impl FnOnce(&'static dyn Simulation) -> R) -> Option<R> {
    SIMULATION.get().map(ask)
}

/// The same without the feature: there is never a simulation.
#[cfg(not(feature = "sim"))]
#[inline(always)]
fn with<R>(_: impl FnOnce(&'static dyn Simulation) -> R) -> Option<R> {
    None
}

/// For operations that only a simulated runtime has.
#[track_caller]
fn expect<R>(ask: impl FnOnce(&'static dyn Simulation) -> R) -> R {
    with(ask).expect("only simulated programs can do this: call it inside `sim::check`")
}

/// Returns whether this thread simulates a program.
#[inline(always)]
pub(crate) fn is_active() -> bool {
    with(|_| ()).is_some()
}

/// Returns whether the thread is simulating a behaviour, which must not block.
#[inline(always)]
pub(crate) fn is_inside() -> bool {
    with(|simulation| simulation.is_inside()).unwrap_or(false)
}

/// Returns whether the thread is simulating a behaviour, including one that may block.
#[inline(always)]
pub(crate) fn runs_body() -> bool {
    with(|simulation| simulation.runs_body()).unwrap_or(false)
}

/// A scheduling point: lets the strategy decide which thread goes on. There is one between any two
/// steps that another thread can distinguish.
#[inline(always)]
pub(crate) fn point() {
    with(|simulation| simulation.point());
}

/// Waits until a simulated thread that was suspended between two steps of a protocol has progressed
/// so far that the condition holds. Returns `false` immediately outside of a simulation.
#[inline(always)]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn give_way(condition: &Condition<'_>) -> bool {
    let at = Location::caller();
    with(|simulation| simulation.give_way(at, condition)).is_some()
}

/// Waits until the condition holds. Returns `false` immediately outside of a simulation. A deadlock
/// report says what the thread waits for, and where.
#[inline(always)]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn block_until(what: &dyn Display, condition: &Condition<'_>) -> bool {
    let at = Location::caller();
    with(|simulation| simulation.block_until(what, at, condition)).is_some()
}

/// Waits until the condition holds or this much virtual time has passed; returns whether it holds.
/// Only in a simulation.
#[track_caller]
pub(crate) fn block_for(
    what: &dyn Display,
    time: Option<Duration>,
    condition: &Condition<'_>,
) -> bool {
    let at = Location::caller();
    expect(|simulation| simulation.block_for(what, at, time, condition))
}

/// Returns the virtual time, in a simulation.
#[inline(always)]
pub(crate) fn now() -> Option<u64> {
    with(|simulation| simulation.now())
}

/// Registers a cown, or the leader of a group, created at this address.
#[inline(always)]
pub(crate) fn made_cown(at: usize) {
    with(|simulation| simulation.made_cown(at));
}

/// Returns the rank of the cown at this address among all cowns: its address, unless runs must not
/// depend on addresses.
#[cfg_attr(loom, allow(dead_code))]
#[inline(always)]
pub(crate) fn rank(cown: usize) -> usize {
    with(|simulation| simulation.rank(cown)).unwrap_or(cown)
}

/// Returns an id of a runtime of an earlier run.
pub(crate) fn free_id() -> Option<RuntimeId> {
    with(|simulation| simulation.free_id()).flatten()
}

/// Makes a runtime that the program has built part of the run.
pub(crate) fn adopt(runtime: RuntimeId) {
    expect(|simulation| simulation.adopt(runtime));
}

/// Reports a fault, which fails the run unless faults are allowed.
pub(crate) fn tell(fault: &Fault) {
    with(|simulation| simulation.tell(fault));
}

/// Passes a ready task to the simulation. Returns `false` if there is none.
pub(crate) fn ready(task: TaskPtr, home: RuntimeId) -> bool {
    with(|simulation| simulation.ready(task, home)).is_some()
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

/// Starts a simulated thread that runs a blocking job.
pub(crate) fn spawn_blocking(job: BlockingJob, run: Box<dyn FnOnce()>) {
    expect(|simulation| simulation.spawn_blocking(job, run));
}

/// Returns whether tasks of the runtime are ready or running.
pub(crate) fn has_tasks(home: RuntimeId) -> bool {
    with(|simulation| simulation.has_tasks(home)).unwrap_or(false)
}

/// Returns the number of bodies of the runtime that have begun and not ended.
pub(crate) fn bodies_of(home: RuntimeId) -> usize {
    with(|simulation| simulation.bodies_of(home)).unwrap_or(0)
}

/// Runs the ready tasks of a pump; returns their number.
#[track_caller]
pub(crate) fn pump_pending(home: RuntimeId) -> usize {
    let at = Location::caller();
    expect(|simulation| simulation.pump_pending(home, at))
}

/// Pumps until it should stop.
#[track_caller]
pub(crate) fn pump_until(home: RuntimeId, stop: &mut dyn FnMut() -> bool) {
    let at = Location::caller();
    expect(|simulation| simulation.pump_until(home, at, stop));
}

/// Pumps until no work is left or the time has passed; returns whether none is left.
#[track_caller]
pub(crate) fn pump_until_idle(
    home: RuntimeId,
    time: Option<Duration>,
    are_idle: &Condition<'_>,
) -> bool {
    let at = Location::caller();
    expect(|simulation| simulation.pump_until_idle(home, at, time, are_idle))
}

/// Registers a new promise.
#[inline(always)]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn made(cell: usize) {
    let at = Location::caller();
    with(|simulation| simulation.made(cell, at));
}

/// Says what completes a promise.
#[inline(always)]
pub(crate) fn owed_by(cell: usize, what: What) {
    with(|simulation| simulation.owed_by(cell, what));
}

/// Says that a promise takes its value from another one.
#[inline(always)]
pub(crate) fn follows(cell: usize, of: usize) {
    with(|simulation| simulation.follows(cell, of));
}

/// Says that a request has been handled, and its reply may come later.
#[inline(always)]
pub(crate) fn handled(cell: usize) {
    with(|simulation| simulation.handled(cell));
}

/// Says that a promise was polled before it was complete.
#[inline(always)]
pub(crate) fn polled(cell: usize) {
    with(|simulation| simulation.polled(cell));
}

/// Describes what a thread waits for: a promise, unless `what` says more.
pub(crate) fn awaited(cell: usize, what: Option<&dyn Display>) -> impl Display {
    fmt::from_fn(move |f| match what {
        Some(what) => what.fmt(f),
        None => with(|simulation| simulation.describe(cell, f)).unwrap_or(Ok(())),
    })
}

/// Says that a behaviour is about to be spawned from here.
#[inline(always)]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn spawns() {
    let at = Location::caller();
    with(|simulation| simulation.spawns(at));
}

/// An object that a simulation knows, if there was a simulation when it was created.
#[derive(Debug)]
struct Noted {
    #[cfg(feature = "sim")]
    id: Option<Id>,
}

impl Noted {
    #[cfg(feature = "sim")]
    fn new(begin: impl FnOnce(&'static dyn Simulation) -> Id) -> Self {
        Self { id: with(begin) }
    }

    #[cfg(not(feature = "sim"))]
    #[inline(always)]
    fn new(_: impl FnOnce(&'static dyn Simulation) -> Id) -> Self {
        Self {}
    }

    #[cfg(feature = "sim")]
    fn with<R>(&self, tell: impl FnOnce(&'static dyn Simulation, Id) -> R) -> Option<R> {
        with(|simulation| self.id.map(|id| tell(simulation, id))).flatten()
    }

    #[cfg(not(feature = "sim"))]
    #[inline(always)]
    fn with<R>(&self, _: impl FnOnce(&'static dyn Simulation, Id) -> R) -> Option<R> {
        None
    }
}

/// A behaviour in a simulation, from spawn to end.
pub(crate) struct Spawned(Noted);

impl Spawned {
    #[inline(always)]
    pub(crate) fn new(name: fn() -> &'static str, promise: Option<usize>) -> Self {
        Self(Noted::new(|simulation| simulation.spawned(name, promise)))
    }

    /// Says that the behaviour is this task, and waits in these queues.
    #[inline(always)]
    pub(crate) fn stands_in(&self, task: usize, mut queues: impl Iterator<Item = usize>) {
        self.0.with(|simulation, id| simulation.stands_in(id, task, &mut queues));
    }

    /// Says that the behaviour has acquired its cowns and runs.
    #[inline(always)]
    pub(crate) fn begins(&self) {
        self.0.with(|simulation, id| simulation.begins(id));
    }
}

#[cfg(feature = "sim")]
impl Drop for Spawned {
    fn drop(&mut self) {
        self.0.with(|simulation, id| simulation.ended(id));
    }
}

/// A future in a simulation, polled by the runtime or by a layer above.
#[derive(Debug)]
pub struct Polled(Noted);

impl Polled {
    /// Registers a future; `what` describes it in reports.
    pub fn new(what: What) -> Self {
        Self::note(what, None, false)
    }

    /// Registers a future that a thread polls and that waits for a wake-up through a promise.
    pub(crate) fn in_thread(what: What, woken: usize) -> Self {
        Self::note(what, Some(woken), true)
    }

    /// Registers a future whose output completes a promise.
    pub(crate) fn keeping(what: What, promise: usize) -> Self {
        Self::note(what, Some(promise), false)
    }

    #[inline(always)]
    fn note(what: What, promise: Option<usize>, in_thread: bool) -> Self {
        Self(Noted::new(|simulation| simulation.future(what, promise, in_thread)))
    }

    /// Polls the future. The promises it polls are what it waits for.
    #[inline(always)]
    pub fn polls<R>(&self, poll: impl FnOnce() -> Poll<R>) -> Poll<R> {
        let before = self.0.with(|simulation, _| simulation.begin_poll());
        let result = poll();
        self.0.with(|simulation, id| simulation.end_poll(id, before.flatten()));
        result
    }
}

#[cfg(feature = "sim")]
impl Drop for Polled {
    fn drop(&mut self) {
        self.0.with(|simulation, id| simulation.future_ended(id));
    }
}
