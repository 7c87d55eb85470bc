//! The handle of a runtime.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use coact_sync::asym;
use coact_sync::shim::sync::Mutex;
use parking::Parker;

use super::blocking::BlockingPool;
use super::home::Home;
use super::host::Host;
use super::{Builder, Config, RuntimeId};
use crate::panic::drop_quietly;
use crate::sched::context;
use crate::sched::quiet::{self, Runtimes};
use crate::sched::shared::{self, Phase, Shared};
use crate::sched::worker::Worker;
use crate::sim;

/// A set of workers with everything that belongs to them.
///
/// Most programs need none: the first cown that is made starts the [global](Runtime::global)
/// runtime. Make one explicitly for other settings, to know when all work is done
/// ([`run`](Runtime::run)), or to stop it ([`shutdown`](Runtime::shutdown)). Runtimes live side by
/// side; a behaviour over cowns of several runs on that of the first member of its set (or on the
/// [`Pump`](super::Pump) that one of them belongs to).
///
/// Dropping the handle shuts the runtime down without waiting for queued work: as
/// `shutdown(Duration::ZERO)`.
pub struct Runtime {
    shared: &'static Shared,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What a shutdown left undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// How many behaviours, futures and jobs were dropped without having run to their end.
    pub abandoned: usize,
    /// How many workers were still in the middle of a behaviour when the wait ended. Their threads
    /// end after it.
    pub stuck_workers: usize,
}

impl ShutdownReport {
    /// Whether all work was done.
    pub fn is_complete(&self) -> bool {
        self.abandoned == 0 && self.stuck_workers == 0
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_complete() {
            return f.write_str("all work was done");
        }
        let Self { abandoned, stuck_workers } = self;
        write!(
            f,
            "{abandoned} pieces of work abandoned, {stuck_workers} workers still in a behaviour"
        )
    }
}

/// Makes a runtime the current one of its thread; see [`Runtime::enter`].
#[must_use = "the runtime is left when the guard is dropped"]
#[derive(Debug)]
pub struct EnterGuard<'a> {
    before: RuntimeId,
    runtime: PhantomData<&'a Runtime>,
    /// Entering concerns one thread.
    not_send: PhantomData<*const ()>,
}

impl EnterGuard<'_> {
    pub(super) fn new(runtime: RuntimeId) -> Self {
        let before = context::enter(runtime);
        Self { before, runtime: PhantomData, not_send: PhantomData }
    }
}

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        context::enter(self.before);
    }
}

/// After a deadline, queued bodies are dropped and not run; so long may the dropping take.
pub(super) const CANCEL_GRACE: Duration = Duration::from_secs(1);

impl Runtime {
    /// A runtime with the default settings.
    ///
    /// # Errors
    /// See [`Builder::build`].
    pub fn new() -> Result<Self, super::BuildError> {
        Self::builder().build()
    }

    /// Settings for a runtime.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The runtime that is used where no other one is entered. It starts with its first use, with
    /// the default settings, and is never shut down.
    ///
    /// # Panics
    /// If the operating system refuses to start its threads.
    pub fn global() -> &'static Runtime {
        static GLOBAL: OnceLock<Runtime> = OnceLock::new();
        GLOBAL.get_or_init(|| match Self::builder().build_unsimulated() {
            Ok(runtime) => runtime,
            Err(error) => panic!("the global runtime could not be started: {error}"),
        })
    }

    pub(super) fn start(id: RuntimeId, config: Config) -> io::Result<Self> {
        asym::init();
        let (shared, parkers) = Shared::new(id, config);
        let shared: &'static Shared = Box::leak(Box::new(shared));
        shared::register(shared);
        let runtime = Self { shared, threads: Mutex::new(Vec::new()) };
        if shared.config.simulated {
            sim::adopt(shared);
            return Ok(runtime);
        }
        // A runtime on blocking threads has no workers: its threads come with the work.
        for (index, parker) in parkers.into_iter().enumerate() {
            match start_worker(shared, index, parker) {
                Ok(thread) => runtime.threads.lock().push(thread),
                Err(error) => {
                    *shared.alive.lock() = index;
                    return Err(error);
                }
            }
        }
        Ok(runtime)
    }

    pub(crate) fn id(&self) -> RuntimeId {
        self.shared.id
    }

    /// How many workers it has; of one [on blocking threads](Builder::on_blocking_threads), how many
    /// threads it may have.
    pub fn workers(&self) -> usize {
        self.shared.config.workers
    }

    /// Makes this the runtime of new cowns, futures, jobs and timers on the current thread, until
    /// the guard is dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard::new(self.id())
    }

    /// Runs `main` on the calling thread, inside this runtime, then waits until no work is left:
    /// every behaviour has run, and so have all futures, blocking jobs and timers that were started.
    ///
    /// # Panics
    /// If `main` panics (after the wait), or if it is called from a behaviour.
    pub fn run<R>(&self, main: impl FnOnce() -> R) -> R {
        context::assert_may_block(
            "`Runtime::run`",
            "spawn the work from the behaviour and let it end",
        );
        let result = {
            let _entered = self.enter();
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(main))
        };
        self.wait_idle();
        result.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    }

    /// Waits until no work is left. New work that other threads bring while this waits is waited
    /// for too.
    ///
    /// # Panics
    /// If it is called from a behaviour.
    #[track_caller]
    pub fn wait_idle(&self) {
        assert_may_wait_idle();
        self.shared.wait_idle();
    }

    /// Waits until no work is left in any of the runtimes, at one moment: for those that send work to
    /// each other, of which each may be idle while the next has something for it.
    ///
    /// ```
    /// use coact_core::{Cown, Runtime, when};
    ///
    /// let [one, two] = [Runtime::new()?, Runtime::new()?];
    /// let (ping, pong) = (one.run(|| Cown::new(0)), two.run(|| Cown::new(0)));
    /// fn serve(ball: u32, from: Cown<u32>, to: Cown<u32>) {
    ///     if ball > 0 {
    ///         let (back, next) = (from.clone(), to.clone());
    ///         when(&to, move |seen| {
    ///             *seen += 1;
    ///             serve(ball - 1, next, back);
    ///         });
    ///     }
    /// }
    /// serve(100, ping.clone(), pong.clone());
    /// Runtime::wait_idle_all(&[one.home(), two.home()]);
    /// assert_eq!((ping.into_inner().unwrap(), pong.into_inner().unwrap()), (50, 50));
    /// # Ok::<(), coact_core::BuildError>(())
    /// ```
    ///
    /// A [`Pump`](crate::Pump) among them must be pumped meanwhile; its own thread waits with
    /// [`Pump::run_until_all_idle`](crate::Pump::run_until_all_idle).
    ///
    /// # Panics
    /// If it is called from a behaviour.
    #[track_caller]
    pub fn wait_idle_all(homes: &[Home]) {
        assert_may_wait_idle();
        quiet::wait(&runtimes(homes), None);
    }

    /// The same for so long at the most; returns whether there was such a moment.
    ///
    /// # Panics
    /// If it is called from a behaviour.
    #[track_caller]
    pub fn wait_idle_all_timeout(homes: &[Home], timeout: Duration) -> bool {
        assert_may_wait_idle();
        quiet::wait(&runtimes(homes), Some(timeout))
    }

    /// Stops the runtime: waits up to `deadline` for its work to end, then drops what is still
    /// queued without running it, and ends the workers.
    ///
    /// Behaviours that are spawned later on cowns of this runtime are dropped;
    /// [`try_when`](crate::try_when) tells.
    ///
    /// # Panics
    /// If it is called from a behaviour.
    pub fn shutdown(self, deadline: Duration) -> ShutdownReport {
        context::assert_may_block(
            "`Runtime::shutdown`",
            "shut it down from the thread that made it",
        );
        self.stop(deadline)
    }

    /// Gives the runtime's work up: what is queued is dropped from now on, and not run, as after the
    /// deadline of a [shutdown](Self::shutdown). To stop several runtimes that wait for each other: cancel
    /// all, then shut down each.
    ///
    /// ```
    /// use coact_core::{Broken, Cown, Runtime, ask};
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let cown = runtime.run(|| Cown::new(0));
    /// runtime.cancel();
    /// assert_eq!(ask(&cown, |n| *n).wait(), Err(Broken::Cancelled));
    /// # Ok::<(), coact_core::BuildError>(())
    /// ```
    pub fn cancel(&self) {
        if self.shared.phase() == Phase::Running {
            self.shared.set_phase(Phase::Cancelling);
            self.shared.cancel_hidden();
        }
    }

    fn stop(&self, deadline: Duration) -> ShutdownReport {
        let shared = self.shared;
        if shared.phase() != Phase::Stopped {
            if !shared.wait_idle_for(deadline) {
                shared.set_phase(Phase::Cancelling);
                shared.cancel_hidden();
                shared.wait_idle_for(CANCEL_GRACE);
            }
            shared.set_phase(Phase::Stopped);
            shared.unpark_all();
            shared.cancel_hidden();
        }
        let stuck_workers = self.join();
        shared.cancel_inboxes();
        BlockingPool::cancel_tasks(shared);
        ShutdownReport { abandoned: shared.abandoned.load(Ordering::Relaxed), stuck_workers }
    }

    /// Waits for the workers' ends; leaves those alone that do not come to one.
    fn join(&self) -> usize {
        let until = Instant::now() + CANCEL_GRACE;
        self.shared.timers.join();
        let blocked = self.shared.blocking.join(until);
        if self.shared.config.simulated {
            return sim::bodies_of(self.id());
        }
        if self.shared.config.host == Host::Blocking {
            *self.shared.alive.lock() = 0;
            self.shared.changed.notify_all();
            return blocked;
        }
        let alive = self.shared.wait_workers_ended(until);
        for thread in self.threads.lock().drain(..) {
            if alive == 0 {
                // The worker has ended; its hooks' panics were reported there.
                let _ = thread.join();
            }
        }
        alive
    }
}

#[track_caller]
fn assert_may_wait_idle() {
    context::assert_may_block(
        "waiting until a runtime is idle",
        "spawn what is to come after the work on its cowns",
    );
}

fn runtimes(homes: &[Home]) -> Runtimes {
    homes.iter().map(|home| shared::get(home.0)).collect()
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if context::is_inside() {
            // A behaviour may own the last handle, but must not wait for itself.
            self.shared.set_phase(Phase::Cancelling);
            return;
        }
        self.stop(Duration::ZERO);
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("name", &self.shared.config.name)
            .field("workers", &self.workers())
            .field("phase", &self.shared.phase())
            .finish_non_exhaustive()
    }
}

fn start_worker(
    shared: &'static Shared,
    index: usize,
    parker: Parker,
) -> io::Result<JoinHandle<()>> {
    let config = &shared.config;
    let mut thread = thread::Builder::new().name(format!("{}-{index}", config.name));
    if let Some(bytes) = config.stack_size {
        thread = thread.stack_size(bytes);
    }
    thread.spawn(move || {
        if config.pin {
            pin_to_core(index);
        }
        call_hook(config.on_start.as_deref());
        Worker::new(shared, index, parker).run();
        call_hook(config.on_stop.as_deref());
        *shared.alive.lock() -= 1;
        shared.changed.notify_all();
    })
}

pub(super) fn call_hook(hook: Option<&(dyn Fn() + Send + Sync)>) {
    if let Some(hook) = hook {
        drop_quietly(hook);
    }
}

fn pin_to_core(index: usize) {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    if let Some(core) = cores.get(index % cores.len().max(1)) {
        core_affinity::set_for_current(*core);
    }
}
