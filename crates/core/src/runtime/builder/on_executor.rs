//! [`Builder::on_executor`].

use std::sync::Arc;

use super::Builder;
use crate::config::ThreadKind;
use crate::runtime::worker_future::WorkerFuture;

impl Builder {
    /// Runs the workers on the threads of an executor such as tokio, so that **one pool of threads
    /// serves both**: `spawn` receives each worker as a future when the runtime is built, and
    /// spawns it there.
    ///
    /// An ask from a task of the executor, and its answer, then need no other thread: the task is
    /// suspended, the behaviour runs, the task continues. And the processors are not shared by two
    /// pools that know nothing of each other.
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
    /// use coact::{Cown, Runtime, call};
    ///
    /// // In a tokio runtime with two threads. (If behaviours use tokio: `around_threads`, see
    /// // below.)
    /// let runtime = Runtime::builder()
    ///     .workers(2)
    ///     .on_executor(|worker| drop(tokio::spawn(worker)))
    ///     .build()?;
    /// let cown = runtime.run(|| Cown::new(20));
    /// assert_eq!(call(&cown, |n| *n + 1).wait(), Ok(21));
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    ///
    /// A worker returns its thread when there is nothing to do, after some hundred behaviours, or
    /// after about 100 µs. A long behaviour occupies a thread of the executor like a long poll. Use
    /// as many [workers](Self::workers) as the executor has threads; more have no benefit.
    ///
    /// **Progress does not depend on the executor.** Threads of the runtime itself run what the
    /// executor has not polled 1 to 2 ms after work arrived, because all threads of the executor
    /// are busy or blocked, or it has ended, or has dropped the future. There is up to one such
    /// thread per worker, started on demand. So [`Runtime::run`](crate::Runtime::run),
    /// [`shutdown`](crate::Runtime::shutdown) and [`Promise::wait`](crate::Promise::wait) may be
    /// called on a thread of the executor, although they block it: that costs this delay if it is
    /// the thread that should have done the work. (Not in tokio's `block_in_place`.) But the
    /// executor's own work stops while its last thread is blocked: a behaviour's future that sleeps
    /// by tokio's clock is not woken.
    ///
    /// **If behaviours need the executor's context** (tokio's timers, sockets, `spawn`), give that
    /// context to the runtime's own threads with [`around_threads`](Self::around_threads):
    /// otherwise they occasionally panic, on a busy executor, with "there is no reactor running".
    /// [`on_start`](Self::on_start), [`on_stop`](Self::on_stop) and the stack size apply to these
    /// threads as well; [`pin`](Self::pin) has no effect. The [throughput](Self::throughput) is at
    /// most 16.
    ///
    /// **Cost.** Waking a worker wakes a task and locks its slot: an ask and its answer take 0.9
    /// µs, or 0.3 µs among many others, instead of 6 µs and 0.6 µs. A behaviour costs the same. One
    /// thread of the runtime monitors the workers: once per millisecond while there is work, and
    /// not at all otherwise.
    ///
    /// # Panics
    /// [`build`](Self::build) panics if `spawn` does.
    pub fn on_executor(self, spawn: impl Fn(WorkerFuture) + Send + Sync + 'static) -> Self {
        self.hosted_by(ThreadKind::Executor, Some(Arc::new(spawn)))
    }
}
