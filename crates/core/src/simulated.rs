//! What a simulation takes over: the one place by which all layers know the deterministic mode.
//!
//! A simulation of this thread ([`Simulation`]) is made by the module `sim`, which stands above all others. Where there is
//! none each function does nothing, or what it would do on real threads; without the feature `sim` there never is one, and
//! they compile to nothing.

use std::fmt::{self, Display};
use std::num::NonZeroU64;
use std::panic::Location;
use std::task::Poll;
use std::time::Duration;

use crate::fault::Fault;
use crate::ids::RuntimeId;
use crate::task::TaskPtr;

/// Writes what something is, for reports.
pub type What = fn(&mut fmt::Formatter<'_>) -> fmt::Result;

/// What a simulation knows behaviours and futures by. Never used again, so that what is left of one run is not taken for
/// something of another.
pub(crate) type Id = NonZeroU64;

/// A place in the program.
pub(crate) type Site = &'static Location<'static>;

/// A condition that only looks.
pub(crate) type Condition<'a> = dyn Fn() -> bool + 'a;

/// The run of a program under a scheduler of its own. Promises are known by the addresses of their cells, cowns by those
/// of their headers.
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
    fn pump_until(
        &self,
        home: RuntimeId,
        at: Site,
        time: Option<Duration>,
        stop: &mut dyn FnMut() -> bool,
    ) -> bool;
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
    /// Writes what is known of a promise.
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
    /// A future is about to be polled: returns the promise that was polled last, before its time.
    fn begin_poll(&self) -> Option<usize>;
    /// It was polled, and takes what `begin_poll` has returned back.
    fn end_poll(&self, future: Id, before: Option<usize>);
    /// The future has ended.
    fn future_ended(&self, future: Id);
}

#[cfg(feature = "sim")]
thread_local! {
    static SIMULATION: std::cell::Cell<Option<&'static dyn Simulation>> =
        const { std::cell::Cell::new(None) };
}

/// Has a simulation take over what this thread does from here on, or none.
#[cfg(feature = "sim")]
pub(crate) fn set(simulation: Option<&'static dyn Simulation>) {
    SIMULATION.set(simulation);
}

/// Asks the simulation, if there is one.
#[cfg(feature = "sim")]
#[inline(always)]
fn with<R>(ask: impl FnOnce(&'static dyn Simulation) -> R) -> Option<R> {
    SIMULATION.get().map(ask)
}

/// The same where nothing is ever simulated.
#[cfg(not(feature = "sim"))]
#[inline(always)]
fn with<R>(_: impl FnOnce(&'static dyn Simulation) -> R) -> Option<R> {
    None
}

/// What only a simulated runtime does.
#[track_caller]
fn expect<R>(ask: impl FnOnce(&'static dyn Simulation) -> R) -> R {
    with(ask).expect("this is for simulated programs: call it inside of `sim::check`")
}

/// Whether this thread simulates a program.
#[inline(always)]
pub(crate) fn is_active() -> bool {
    with(|_| ()).is_some()
}

/// Whether the thread simulates a behaviour right now, which must not wait.
#[inline(always)]
pub(crate) fn is_inside() -> bool {
    with(|simulation| simulation.is_inside()).unwrap_or(false)
}

/// Whether the thread simulates a behaviour right now, one that may wait included.
#[inline(always)]
pub(crate) fn runs_body() -> bool {
    with(|simulation| simulation.runs_body()).unwrap_or(false)
}

/// A scheduling point: lets the strategy decide who goes on. There is one between any two steps that another thread could
/// tell apart.
#[inline(always)]
pub(crate) fn point() {
    with(|simulation| simulation.point());
}

/// Waits until a simulated thread that was left between two steps of a protocol has gone on so far that the condition
/// holds. Returns false, at once, outside of a simulation.
#[inline(always)]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn give_way(condition: &Condition<'_>) -> bool {
    let at = Location::caller();
    with(|simulation| simulation.give_way(at, condition)).is_some()
}

/// Waits until the condition holds. Returns false, at once, outside of a simulation. The report on a deadlock says what is
/// waited for, and where.
#[inline(always)]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn block_until(what: &dyn Display, condition: &Condition<'_>) -> bool {
    let at = Location::caller();
    with(|simulation| simulation.block_until(what, at, condition)).is_some()
}

/// Waits until the condition holds, or for so long of virtual time; returns whether it holds. In a simulation only.
#[track_caller]
pub(crate) fn block_for(
    what: &dyn Display,
    time: Option<Duration>,
    condition: &Condition<'_>,
) -> bool {
    let at = Location::caller();
    expect(|simulation| simulation.block_for(what, at, time, condition))
}

/// The virtual time, in a simulation.
#[inline(always)]
pub(crate) fn now() -> Option<u64> {
    with(|simulation| simulation.now())
}

/// A cown, or the leader of a group, is made at this address.
#[inline(always)]
pub(crate) fn made_cown(at: usize) {
    with(|simulation| simulation.made_cown(at));
}

/// The place of the cown at this address among all: by address, unless no run may depend on that.
#[cfg_attr(loom, allow(dead_code))]
#[inline(always)]
pub(crate) fn rank(cown: usize) -> usize {
    with(|simulation| simulation.rank(cown)).unwrap_or(cown)
}

/// An id of a runtime of an earlier run.
pub(crate) fn free_id() -> Option<RuntimeId> {
    with(|simulation| simulation.free_id()).flatten()
}

/// Makes a runtime that the program has built part of the run.
pub(crate) fn adopt(runtime: RuntimeId) {
    expect(|simulation| simulation.adopt(runtime));
}

/// Tells of a fault, which fails the run unless faults are allowed.
pub(crate) fn tell(fault: &Fault) {
    with(|simulation| simulation.tell(fault));
}

/// Gives a ready task to the simulation. Returns false if there is none.
pub(crate) fn ready(task: TaskPtr, home: RuntimeId) -> bool {
    with(|simulation| simulation.ready(task, home)).is_some()
}

/// A blocking job.
#[cfg_attr(not(feature = "sim"), allow(dead_code))]
pub(crate) struct BlockingJob {
    /// Of which runtime.
    pub(crate) home: RuntimeId,
    /// Its type.
    pub(crate) name: &'static str,
    /// The promise that is kept at its end.
    pub(crate) promise: usize,
}

/// Begins a thread that runs a blocking job.
pub(crate) fn spawn_blocking(job: BlockingJob, run: Box<dyn FnOnce()>) {
    expect(|simulation| simulation.spawn_blocking(job, run));
}

/// Whether tasks of the runtime are ready, or run.
pub(crate) fn has_tasks(home: RuntimeId) -> bool {
    with(|simulation| simulation.has_tasks(home)).unwrap_or(false)
}

/// How many bodies of the runtime have begun and not ended.
pub(crate) fn bodies_of(home: RuntimeId) -> usize {
    with(|simulation| simulation.bodies_of(home)).unwrap_or(0)
}

/// Runs those tasks of a pump that are ready; returns how many they were.
#[track_caller]
pub(crate) fn pump_pending(home: RuntimeId) -> usize {
    let at = Location::caller();
    expect(|simulation| simulation.pump_pending(home, at))
}

/// Pumps until it is to stop, or for so long; returns whether it was to.
#[track_caller]
pub(crate) fn pump_until(
    home: RuntimeId,
    time: Option<Duration>,
    stop: &mut dyn FnMut() -> bool,
) -> bool {
    let at = Location::caller();
    expect(|simulation| simulation.pump_until(home, at, time, stop))
}

/// Pumps until no work is left, or for so long; returns whether none is left.
#[track_caller]
pub(crate) fn pump_until_idle(
    home: RuntimeId,
    time: Option<Duration>,
    are_idle: &Condition<'_>,
) -> bool {
    let at = Location::caller();
    expect(|simulation| simulation.pump_until_idle(home, at, time, are_idle))
}

/// A promise is made.
#[inline(always)]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn made(cell: usize) {
    let at = Location::caller();
    with(|simulation| simulation.made(cell, at));
}

/// Who is to keep a promise.
#[inline(always)]
pub(crate) fn owed_by(cell: usize, what: What) {
    with(|simulation| simulation.owed_by(cell, what));
}

/// A promise takes its value from another one.
#[inline(always)]
pub(crate) fn follows(cell: usize, of: usize) {
    with(|simulation| simulation.follows(cell, of));
}

/// What was asked has been handled, and the answer may come later.
#[inline(always)]
pub(crate) fn handled(cell: usize) {
    with(|simulation| simulation.handled(cell));
}

/// A promise was polled before it was kept.
#[inline(always)]
pub(crate) fn polled(cell: usize) {
    with(|simulation| simulation.polled(cell));
}

/// What a thread waits for: a promise, unless there is more to say.
pub(crate) fn awaited(cell: usize, what: Option<&dyn Display>) -> impl Display {
    fmt::from_fn(move |f| match what {
        Some(what) => what.fmt(f),
        None => with(|simulation| simulation.describe(cell, f)).unwrap_or(Ok(())),
    })
}

/// A behaviour is about to be spawned from here.
#[inline(always)]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn spawns() {
    let at = Location::caller();
    with(|simulation| simulation.spawns(at));
}

/// Something that a simulation knows, if there was one when it began.
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

/// A behaviour from its spawning to its end.
pub(crate) struct Spawned(Noted);

impl Spawned {
    #[inline(always)]
    pub(crate) fn new(name: fn() -> &'static str, promise: Option<usize>) -> Self {
        Self(Noted::new(|simulation| simulation.spawned(name, promise)))
    }

    /// It is in a task, and stands in these queues.
    #[inline(always)]
    pub(crate) fn stands_in(&self, task: usize, mut queues: impl Iterator<Item = usize>) {
        self.0.with(|simulation, id| simulation.stands_in(id, task, &mut queues));
    }

    /// It holds what it needs, and runs.
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

/// A future that is polled by the runtime, or by a layer above.
#[derive(Debug)]
pub struct Polled(Noted);

impl Polled {
    /// `what` names it in reports.
    pub fn new(what: What) -> Self {
        Self::note(what, None, false)
    }

    /// That of a future that a thread polls, which waits for a promise to be woken.
    pub(crate) fn in_thread(what: What, woken: usize) -> Self {
        Self::note(what, Some(woken), true)
    }

    /// That of a future with whose output a promise is kept.
    pub(crate) fn keeping(what: What, promise: usize) -> Self {
        Self::note(what, Some(promise), false)
    }

    #[inline(always)]
    fn note(what: What, promise: Option<usize>, in_thread: bool) -> Self {
        Self(Noted::new(|simulation| simulation.future(what, promise, in_thread)))
    }

    /// Polls it. What it polls in turn is what it waits for.
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
