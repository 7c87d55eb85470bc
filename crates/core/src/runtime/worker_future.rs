//! Runtimes whose workers run on the threads of an executor.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::sched::hosted::HostedWorkers;
use crate::sched::runtime_shared::RuntimeShared;

/// A worker of a runtime as a future, which runs on the threads of an
/// [executor](crate::runtime::Builder::on_executor).
///
/// It is woken when there is something to do, runs some behaviours per poll, and completes when the
/// runtime has stopped.
///
/// **It may be dropped** at any time, or never be polled: threads of the runtime itself then do its
/// work.
///
/// Poll it from a task of its own. In a behaviour of any runtime, a poll runs other behaviours
/// inside that one. Where a poll may interrupt other steps (in a behaviour that runs
/// [inline](crate::when_here), or in the waker's `wake`) it runs nothing, and leaves the work to
/// the runtime's own threads.
#[must_use = "a worker runs behaviours when it is polled: spawn it on the executor"]
pub struct WorkerFuture {
    shared: &'static RuntimeShared,
    index: usize,
}

impl WorkerFuture {
    fn hosted(&self) -> &'static HostedWorkers {
        self.shared.hosted().expect("made for a runtime whose workers are hosted")
    }
}

impl Future for WorkerFuture {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.hosted().poll(self.shared, self.index, context)
    }
}

impl Drop for WorkerFuture {
    fn drop(&mut self) {
        self.hosted().note_future_dropped(self.index);
    }
}

impl fmt::Debug for WorkerFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shared, index } = self;
        f.debug_struct("WorkerFuture")
            .field("runtime", &shared.config.name)
            .field("index", index)
            .finish()
    }
}

/// Spawns a worker on an executor.
pub(super) type SpawnWorker = Arc<dyn Fn(WorkerFuture) + Send + Sync>;

/// Makes the executor spawn the workers.
pub(super) fn spawn_workers(shared: &'static RuntimeShared, spawn: &SpawnWorker) {
    (0..shared.workers.len()).for_each(|index| spawn(WorkerFuture { shared, index }));
}
