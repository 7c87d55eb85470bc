//! Forwards the hooks of the layers below to the run on their thread.

use std::fmt::{self, Display};
use std::time::Duration;

use super::sim_fiber::FiberSubject;
use super::{engine, pump, wait_graph};
use crate::current::BlockingMark;
use crate::fault::Fault;
use crate::runtime_ids::RuntimeId;
use crate::sched::runtime_shared;
use crate::simulated::{
    BlockingJob, SimObservation, SimulatedBody, Simulation, SpawnSite, TaskCounts, WaitDescription,
    WakeCondition, WorkId,
};
use crate::task::TaskPtr;

/// The run of this thread; valid as long as this is [set](crate::simulated::set).
pub(super) struct InstalledRun;

impl Simulation for InstalledRun {
    fn point(&self) {
        engine::point();
    }

    fn give_way(&self, at: SpawnSite, condition: &WakeCondition<'_>) {
        engine::give_way(at, condition);
    }

    fn block_until(&self, what: &dyn Display, at: SpawnSite, condition: &WakeCondition<'_>) {
        engine::block_until(what, at, condition);
    }

    fn block_for(
        &self,
        what: &dyn Display,
        at: SpawnSite,
        time: Option<Duration>,
        condition: &WakeCondition<'_>,
    ) -> bool {
        engine::block_for(what, at, time, condition)
    }

    fn body(&self) -> Option<SimulatedBody> {
        engine::body()
    }

    fn now(&self) -> u64 {
        engine::now()
    }

    fn rank(&self, cown: usize) -> usize {
        engine::rank(cown)
    }

    fn free_id(&self) -> Option<RuntimeId> {
        engine::free_id()
    }

    fn adopt(&self, runtime: RuntimeId) {
        engine::adopt(runtime);
    }

    fn tell(&self, fault: &Fault) {
        engine::tell(fault);
    }

    fn ready(&self, task: TaskPtr, home: RuntimeId) {
        engine::ready(task, runtime_shared::get(home));
    }

    fn spawn_blocking(&self, job: BlockingJob, run: Box<dyn FnOnce()>) {
        let BlockingJob { home, name, promise } = job;
        let run = move || {
            let _serving = BlockingMark::new(home);
            run();
        };
        engine::spawn_outside(home, FiberSubject::Blocking(name), Some(promise), Box::new(run));
    }

    fn tasks_of(&self, home: RuntimeId) -> TaskCounts {
        engine::tasks_of(home)
    }

    fn pump_pending(&self, home: RuntimeId, at: SpawnSite) -> usize {
        pump::pump_pending(runtime_shared::get(home), at)
    }

    fn pump_until(&self, home: RuntimeId, at: SpawnSite, stop: &mut dyn FnMut() -> bool) {
        pump::pump_until(runtime_shared::get(home), at, stop);
    }

    fn pump_until_idle(
        &self,
        home: RuntimeId,
        at: SpawnSite,
        time: Option<Duration>,
        are_idle: &WakeCondition<'_>,
    ) -> bool {
        pump::pump_until_idle(runtime_shared::get(home), at, time, are_idle)
    }

    fn note(&self, what: SimObservation<'_>) {
        match what {
            SimObservation::MadeCown(at) => engine::made_cown(at),
            SimObservation::MadePromise { cell, at } => wait_graph::made(cell, at),
            SimObservation::OwedBy { cell, what } => wait_graph::owed_by(cell, what),
            SimObservation::Follows { cell, of } => wait_graph::follows(cell, of),
            SimObservation::Handled { cell } => wait_graph::handled(cell),
            SimObservation::Polled { cell } => wait_graph::polled(cell),
            SimObservation::Spawns { at } => wait_graph::spawns(at),
            SimObservation::StandsIn { behaviour, task, queues } => {
                wait_graph::stands_in(behaviour, task, queues);
            }
            SimObservation::Begins { behaviour } => wait_graph::begins(behaviour),
            SimObservation::Detains { behaviour } => wait_graph::detains(behaviour),
            SimObservation::Ended { behaviour } => wait_graph::ended(behaviour),
            SimObservation::EndPoll { future, before } => wait_graph::end_poll(future, before),
            SimObservation::FutureEnded { future } => wait_graph::future_ended(future),
        }
    }

    fn spawned(&self, name: fn() -> &'static str, promise: Option<usize>) -> WorkId {
        wait_graph::spawned(name, promise)
    }

    fn future(&self, what: WaitDescription, promise: Option<usize>, in_thread: bool) -> WorkId {
        wait_graph::future(what, promise, in_thread)
    }

    fn begin_poll(&self) -> Option<usize> {
        wait_graph::begin_poll()
    }

    fn describe(&self, cell: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        engine::promise(cell).fmt(f)
    }
}
