//! What a simulation can be asked and told.

use std::fmt::{self, Display};
use std::num::NonZeroU64;
use std::panic::Location;
use std::time::Duration;

use crate::fault::Fault;
use crate::runtime_ids::RuntimeId;
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
    /// See [`point`](super::point).
    fn point(&self);
    /// See [`give_way`](super::give_way).
    fn give_way(&self, at: Site, condition: &Condition<'_>);
    /// See [`block_until`](super::block_until).
    fn block_until(&self, what: &dyn Display, at: Site, condition: &Condition<'_>);
    /// See [`block_for`](super::block_for).
    fn block_for(
        &self,
        what: &dyn Display,
        at: Site,
        time: Option<Duration>,
        condition: &Condition<'_>,
    ) -> bool;
    /// See [`is_inside`](super::is_inside).
    fn is_inside(&self) -> bool;
    /// See [`runs_body`](super::runs_body).
    fn runs_body(&self) -> bool;
    /// See [`now`](super::now).
    fn now(&self) -> u64;
    /// See [`made_cown`](super::made_cown).
    fn made_cown(&self, at: usize);
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
    /// See [`has_tasks`](super::has_tasks).
    fn has_tasks(&self, home: RuntimeId) -> bool;
    /// See [`bodies_of`](super::bodies_of).
    fn bodies_of(&self, home: RuntimeId) -> usize;
    /// See [`pump_pending`](super::pump_pending).
    fn pump_pending(&self, home: RuntimeId, at: Site) -> usize;
    /// See [`pump_until`](super::pump_until).
    fn pump_until(&self, home: RuntimeId, at: Site, stop: &mut dyn FnMut() -> bool);
    /// See [`pump_until_idle`](super::pump_until_idle).
    fn pump_until_idle(
        &self,
        home: RuntimeId,
        at: Site,
        time: Option<Duration>,
        are_idle: &Condition<'_>,
    ) -> bool;

    /// See [`made`](super::made).
    fn made(&self, cell: usize, at: Site);
    /// See [`owed_by`](super::owed_by).
    fn owed_by(&self, cell: usize, what: What);
    /// See [`follows`](super::follows).
    fn follows(&self, cell: usize, of: usize);
    /// See [`handled`](super::handled).
    fn handled(&self, cell: usize);
    /// See [`polled`](super::polled).
    fn polled(&self, cell: usize);
    /// Writes a description of a promise.
    fn describe(&self, cell: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// See [`spawns`](super::spawns).
    fn spawns(&self, at: Site);
    /// See [`Spawned`](super::Spawned).
    fn spawned(&self, name: fn() -> &'static str, promise: Option<usize>) -> Id;
    /// See [`Spawned::stands_in`](super::Spawned::stands_in).
    fn stands_in(&self, behaviour: Id, task: usize, queues: &mut dyn Iterator<Item = usize>);
    /// See [`Spawned::begins`](super::Spawned::begins).
    fn begins(&self, behaviour: Id);
    /// The behaviour has ended.
    fn ended(&self, behaviour: Id);
    /// See [`Polled`](super::Polled).
    fn future(&self, what: What, promise: Option<usize>, in_thread: bool) -> Id;
    /// Called before a future is polled: returns the promise that was polled last before this.
    fn begin_poll(&self) -> Option<usize>;
    /// Called after the poll, with the result of `begin_poll`.
    fn end_poll(&self, future: Id, before: Option<usize>);
    /// The future has ended.
    fn future_ended(&self, future: Id);
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
