//! Fallback threads: run the workers that the executor neglects. There are at most as many as
//! workers, each started on demand.

use std::time::Instant;

use super::hosted_workers::HostedWorkers;
use crate::current::NestedBody;
use crate::sched::runtime_shared::RuntimeShared;
use crate::sched::tracked_thread::TrackedThread;

impl HostedWorkers {
    /// Makes a fallback thread run an overdue worker. If the system refuses the thread, the caller
    /// runs it.
    pub(super) fn call_fallback(&self, shared: &'static RuntimeShared) {
        if self.fallbacks.wake_one() {
            return;
        }
        if let Err(error) = self.start_fallback(shared) {
            if !std::mem::replace(&mut self.fallbacks.0.lock().has_complained, true) {
                tracing::error!("could not start a thread for what an executor leaves: {error}");
            }
            self.run_neglected(shared);
        }
    }

    /// Starts another thread, unless there are as many as workers.
    fn start_fallback(&self, shared: &'static RuntimeShared) -> std::io::Result<()> {
        let mut state = self.fallbacks.0.lock();
        if state.started == self.slots.len() || state.is_dismissed {
            return Ok(());
        }
        let name = format!("{}-fallback-{}", shared.config.name, state.started);
        let thread = TrackedThread::start(shared.thread_settings(name), move || {
            // As on a worker's thread, blocking calls panic here.
            let _inside = NestedBody::enter();
            shared.between_hooks(|| {
                shared.hosted().expect("its workers are hosted").run_fallback(shared);
            });
        })?;
        state.started += 1;
        state.threads.push(thread);
        Ok(())
    }

    /// The main loop of a fallback thread.
    fn run_fallback(&self, shared: &'static RuntimeShared) {
        let (parker, unparker) = parking::pair();
        loop {
            self.run_neglected(shared);
            if !self.fallbacks.rest(unparker.clone()) {
                return;
            }
            // Workers that became overdue before this thread could be found idle.
            self.run_neglected(shared);
            parker.park();
        }
    }

    fn run_neglected(&self, shared: &'static RuntimeShared) {
        let mut found = true;
        while std::mem::take(&mut found) {
            for (index, slot) in self.slots.iter().enumerate() {
                if let Some(parked) = slot.take_neglected() {
                    self.run(shared, index, parked, Self::wake_executor);
                    found = true;
                }
            }
        }
    }

    /// Joins the fallback threads that are over by then, and leaves the others running.
    pub(crate) fn join_until(&self, until: Instant) {
        self.fallbacks.take_threads().into_iter().for_each(|thread| thread.join_until(until));
    }

    /// Stops waiting for fallback threads.
    pub(crate) fn detach(&self) {
        drop(self.fallbacks.take_threads());
    }
}
