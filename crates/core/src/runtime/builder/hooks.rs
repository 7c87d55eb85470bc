//! The hooks that a runtime calls: with faults, around its threads, and when work arrives at a
//! pump.

use std::sync::Arc;

use super::Builder;
use crate::fault::Fault;

impl Builder {
    /// Sets a hook that is called with each [`Fault`]: each panic, each behaviour skipped because
    /// of poison, each stall found by the [watchdog](Self::watchdog); on the thread where it
    /// happens (default: a [`tracing`] event). The hook must not block; if it panics, that is
    /// reported through `tracing`.
    pub fn panic_hook(mut self, hook: impl Fn(&Fault) + Send + Sync + 'static) -> Self {
        self.config.panic_hook = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that each worker calls before its first behaviour. Blocking calls panic there as
    /// they do in behaviours: waiting for work of this runtime could mean waiting for this very
    /// worker.
    pub fn on_start(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.config.on_start = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that each worker calls after its last behaviour.
    pub fn on_stop(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.config.on_stop = Some(Arc::new(hook));
        self
    }

    /// Wraps the whole run of each thread that runs behaviours, futures or blocking jobs: the
    /// wrapper must call its argument, which returns when the thread ends. For a context that the
    /// thread needs, such as that of an async runtime:
    ///
    /// ```
    /// # use coact_core as coact;
    /// # mod tokio { pub mod runtime { #[derive(Clone)] pub struct Handle; pub struct EnterGuard;
    /// # impl Handle { pub fn enter(&self) -> EnterGuard { EnterGuard } } } }
    /// # let handle = tokio::runtime::Handle;
    /// use coact::Runtime;
    ///
    /// // Behaviours and futures may use tokio's timers and sockets; `handle` is that of a tokio runtime.
    /// let runtime = Runtime::builder()
    ///     .around_threads(move |run| {
    ///         let _entered = handle.enter();
    ///         run();
    ///     })
    ///     .build()?;
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    ///
    /// [`on_start`](Self::on_start) and [`on_stop`](Self::on_stop) are called inside it. If it does
    /// not call its argument, or panics before, the thread runs without it.
    ///
    /// **Cost.** One call per thread; none per behaviour.
    ///
    /// The threads are the workers, the spares, and those that may block; for a system, those of
    /// all its hosts ([the others of its group](Self::grouped_with) use it too). Where a thread of
    /// the program runs behaviours itself (a [`Pump`](crate::runtime::Pump),
    /// [`when_here`](crate::when_here), `Host::caller`), it must enter what it needs. Simulations
    /// have no threads.
    pub fn around_threads(
        mut self,
        wrapper: impl Fn(&mut dyn FnMut()) + Send + Sync + 'static,
    ) -> Self {
        self.config.around_threads = Some(Arc::new(wrapper));
        self
    }

    /// Sets a hook that is called when work arrives at a [`Pump`](crate::runtime::Pump) that is not
    /// being pumped, on the thread that brings the work: to post an event to the loop that calls
    /// [`Pump::run_pending`](crate::runtime::Pump::run_pending). It is called once until the pump
    /// is next run, and also when a run leaves work behind.
    ///
    /// The hook may run in the middle of another runtime's work, so it must be short: it must not
    /// block, nor use cowns. It has no effect on other runtimes.
    pub fn on_ready(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.config.on_ready = Some(Arc::new(hook));
        self
    }
}
