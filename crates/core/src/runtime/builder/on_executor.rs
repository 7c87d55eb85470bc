//! [`Builder::on_executor`].

use std::sync::Arc;

use super::Builder;
use crate::config::Host;
use crate::runtime::executor::WorkerFuture;

impl Builder {
    /// Runs the workers on the threads of an executor, tokio's for instance, so that **one pool of threads serves both**:
    /// `spawn` is given each worker as a future, when the runtime is built, and spawns it there.
    ///
    /// A request that a task of the executor makes, and its answer, then need no other thread: the task is put aside, the
    /// behaviour runs, the task goes on. And the processors are not shared by two pools that know nothing of each other.
    ///
    /// ```
    /// # use coact_core as coact;
    /// # mod tokio {
    /// #     pub fn spawn(future: impl Future<Output = ()> + Send + 'static) {
    /// #         std::thread::spawn(|| poll_until_ready(future));
    /// #     }
    /// #     fn poll_until_ready(future: impl Future<Output = ()>) {
    /// #         let (mut future, waker) = (std::pin::pin!(future), std::task::Waker::noop());
    /// #         while future.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending() {
    /// #             std::thread::yield_now();
    /// #         }
    /// #     }
    /// # }
    /// use coact::{Cown, Runtime, ask};
    ///
    /// // In a tokio runtime with two threads. (If behaviours use tokio: `around_threads`, see below.)
    /// let runtime = Runtime::builder()
    ///     .workers(2)
    ///     .on_executor(|worker| drop(tokio::spawn(worker)))
    ///     .build()?;
    /// let cown = runtime.run(|| Cown::new(20));
    /// assert_eq!(ask(&cown, |n| *n + 1).wait(), Ok(21));
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    ///
    /// A worker gives its thread back when there is nothing to do, after some hundred behaviours, and after about 100 us. A
    /// behaviour that takes long keeps a thread of the executor as long: it is to that as a poll that takes long. Make as
    /// many [workers](Self::workers) as the executor has threads; more are of no use.
    ///
    /// **Progress does not depend on the executor.** What it has not polled 1 to 2 ms after there was something to do is run by threads of
    /// the runtime's own: since all threads of the executor are busy or blocked, or it has ended, or has dropped the future. There is up
    /// to one for each worker, started when it is needed. So [`Runtime::run`](crate::Runtime::run),
    /// [`shutdown`](crate::Runtime::shutdown) and [`Promise::wait`](crate::Promise::wait) may be called on a thread of the executor, although
    /// they block it: that costs this time, if it is the thread that was to do the work. (In tokio's `block_in_place` it does not.) But
    /// what the executor itself is to do comes to a halt while its last thread is blocked: a behaviour's future that sleeps by tokio's
    /// clock is not woken.
    ///
    /// **If behaviours need the executor's context** (tokio's timers, sockets, `spawn`), give the runtime's own threads that
    /// context with [`around_threads`](Self::around_threads): otherwise they panic now and then, on a busy executor, with "there is no reactor running".
    /// [`on_start`](Self::on_start), [`on_stop`](Self::on_stop) and the stack's size are for these threads, too; [`pin`](Self::pin) has no
    /// meaning. The [throughput](Self::throughput) is 16 at the most.
    ///
    /// **Cost.** To wake a worker is to wake a task, and to lock its place: a request and its answer take 0.9 us, or
    /// 0.3 us beside many others, in place of 6 us and 0.6 us. A behaviour costs the same. One thread of the runtime looks after the workers: once a
    /// millisecond while there is work, and not at all else.
    ///
    /// # Panics
    /// [`build`](Self::build) panics if `spawn` does.
    pub fn on_executor(self, spawn: impl Fn(WorkerFuture) + Send + Sync + 'static) -> Self {
        self.hosted_by(Host::Executor, Some(Arc::new(spawn)))
    }
}
