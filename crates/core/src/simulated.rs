//! The interface through which all layers reach a simulation, if one is running.
//!
//! A simulation of this thread ([`Simulation`]) is implemented by the module `sim`, which is above
//! all others. Without one, each function does nothing, or what it does on real threads. Without
//! the feature `sim` there never is one, and they compile to nothing.

mod installed;
mod interface;
mod work_tokens;

use std::fmt::{self, Display};
use std::panic::Location;
use std::time::Duration;

use crate::fault::Fault;
use crate::runtime_ids::RuntimeId;
use crate::task::TaskPtr;
pub(crate) use installed::may_be_elsewhere;
use installed::{expect, with};

#[cfg(feature = "sim")]
pub(crate) use installed::set;
pub use interface::WaitDescription;
pub(crate) use interface::{BlockingJob, SimObservation, WakeCondition};
#[cfg(feature = "sim")]
pub(crate) use interface::{SimulatedBody, Simulation, SpawnSite, TaskCounts, WorkId};
pub use work_tokens::PolledFuture;
pub(crate) use work_tokens::SpawnedWork;

/// Tells the simulation something.
#[inline(always)]
fn note(what: SimObservation<'_>) {
    with(|simulation| simulation.note(what));
}

/// Returns whether this thread simulates a program, for the layers above.
#[must_use]
pub fn is_simulated() -> bool {
    is_active()
}

/// Returns whether this thread simulates a program.
#[inline(always)]
pub(crate) fn is_active() -> bool {
    with(|_| ()).is_some()
}

/// Returns whether the thread is simulating a behaviour, which must not block.
#[inline(always)]
pub(crate) fn is_inside() -> bool {
    with(|simulation| simulation.body()).flatten().is_some_and(|body| !body.may_block)
}

/// Returns whether the thread is simulating a behaviour, including one that may block.
#[inline(always)]
pub(crate) fn runs_body() -> bool {
    with(|simulation| simulation.body()).flatten().is_some()
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
pub(crate) fn give_way(condition: &WakeCondition<'_>) -> bool {
    let at = Location::caller();
    with(|simulation| simulation.give_way(at, condition)).is_some()
}

/// Waits until the condition holds. Returns `false` immediately outside of a simulation. A deadlock
/// report says what the thread waits for, and where.
#[inline(always)]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn block_until(what: &dyn Display, condition: &WakeCondition<'_>) -> bool {
    let at = Location::caller();
    with(|simulation| simulation.block_until(what, at, condition)).is_some()
}

/// Waits until the condition holds or this much virtual time has passed; returns whether it holds.
/// Only in a simulation.
#[track_caller]
pub(crate) fn block_for(
    what: &dyn Display,
    time: Option<Duration>,
    condition: &WakeCondition<'_>,
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
    note(SimObservation::MadeCown(at));
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

/// Starts a simulated thread that runs a blocking job.
pub(crate) fn spawn_blocking(job: BlockingJob, run: Box<dyn FnOnce()>) {
    expect(|simulation| simulation.spawn_blocking(job, run));
}

/// Returns whether tasks of the runtime are ready or running.
pub(crate) fn has_tasks(home: RuntimeId) -> bool {
    with(|simulation| simulation.tasks_of(home)).is_some_and(|tasks| tasks.ready + tasks.begun > 0)
}

/// Returns the number of bodies of the runtime that have begun and not ended.
pub(crate) fn bodies_of(home: RuntimeId) -> usize {
    with(|simulation| simulation.tasks_of(home)).map_or(0, |tasks| tasks.begun)
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
    are_idle: &WakeCondition<'_>,
) -> bool {
    let at = Location::caller();
    expect(|simulation| simulation.pump_until_idle(home, at, time, are_idle))
}

/// Registers a new promise.
#[inline(always)]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn made(cell: usize) {
    let at = Location::caller();
    note(SimObservation::MadePromise { cell, at });
}

/// Says what completes a promise.
#[inline(always)]
pub(crate) fn owed_by(cell: usize, what: WaitDescription) {
    note(SimObservation::OwedBy { cell, what });
}

/// Says that a promise takes its value from another one.
#[inline(always)]
pub(crate) fn follows(cell: usize, of: usize) {
    note(SimObservation::Follows { cell, of });
}

/// Says that a request has been handled, and its reply may come later.
#[inline(always)]
pub(crate) fn handled(cell: usize) {
    note(SimObservation::Handled { cell });
}

/// Says that a promise was polled before it was complete.
#[inline(always)]
pub(crate) fn polled(cell: usize) {
    note(SimObservation::Polled { cell });
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
    note(SimObservation::Spawns { at });
}
