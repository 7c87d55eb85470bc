//! What a runtime is made with.

mod on_executor;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::build_error::BuildError;
use super::executor::SpawnWorker;
use super::handle::Runtime;
use super::pump::Pump;
use crate::config::{Config, Extensions, Host, MAX_WORKERS, PanicHook};
use crate::fault::Fault;
use crate::ids::RuntimeId;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::shared;
use crate::simulated;

/// Makes a [`Runtime`] with other settings than the defaults.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, Runtime, when};
///
/// let runtime = Runtime::builder().workers(2).name("bank").build()?;
/// let seen = runtime.run(|| {
///     let cown = Cown::new(0);
///     when(&cown, |n| *n += 1);
///     cown
/// });
/// assert_eq!(seen.into_inner().unwrap(), 1);
/// # Ok::<(), coact::runtime::BuildError>(())
/// ```
#[derive(Clone, Default)]
#[must_use = "a builder does nothing until it is built"]
pub struct Builder {
    config: Config,
    /// How an executor spawns a worker that it is to host.
    spawn_worker: Option<SpawnWorker>,
}

impl Runtime {
    /// A runtime with the default settings.
    ///
    /// # Errors
    /// See [`Builder::build`].
    pub fn new() -> Result<Self, BuildError> {
        Self::builder().build()
    }

    /// Settings for a runtime.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// How many worker threads run behaviours (default: one a core).
    pub fn workers(mut self, workers: usize) -> Self {
        self.config.workers = workers;
        self
    }

    /// The name of the runtime; its threads are called `name-0`, `name-1` and so on (default:
    /// `coact`).
    pub fn name(mut self, name: &str) -> Self {
        self.config.name = name.into();
        self
    }

    /// How many behaviours in a row a worker runs on one cown before others get their turn
    /// (default: 100). Less is fairer, more is faster.
    pub fn throughput(mut self, behaviours: u32) -> Self {
        self.config.throughput = behaviours;
        self
    }

    /// Whether a behaviour that sends to a cown which does not keep up has those behind it give way (default: yes).
    ///
    /// A cown, or an actor, is *overloaded* if four times the [throughput](Self::throughput) wait for it, or 500
    /// behaviours. Its worker looks now and then, so it may be more by then. If a behaviour of this runtime's spawns
    /// another one on such a cown, what waits for the first one's own cown gives way to all other work of its worker: it
    /// runs when the worker has found nothing else for a microsecond or two, and after some 64 tasks at the latest,
    /// times the number of those that give way before it. So a producer leaves its worker to others, the consumer among
    /// them, and one that tries again whatever was refused does not keep the consumer busy with nothing else.
    ///
    /// **It bounds no queue.** While a worker has nothing else to do, a producer goes on there as fast as ever, and on the
    /// way a burst of some thousands is not noticed. What bounds memory and waiting is a bounded mailbox,
    /// [`Credits`](crate::credits::Credits), or a stream.
    ///
    /// Nothing is lost, refused or put out of order, and nothing waits for ever. A cown in a group
    /// is never overloaded, nor is one whose turns end with a behaviour on several cowns; and threads that are no workers
    /// do not give way: bound a mailbox for those.
    ///
    /// Say no where a producer has more urgent things to do than those that it sends to, a server that also writes a
    /// log, for instance, and the consumer may fall behind.
    pub fn throttle_senders(mut self, throttle: bool) -> Self {
        self.config.throttle_senders = throttle;
        self
    }

    /// The size in bytes of the workers' stacks (default: that of [`std::thread`]).
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.config.stack_size = Some(bytes);
        self
    }

    /// Whether each worker is bound to one core (default: no).
    pub fn pin(mut self, pin: bool) -> Self {
        self.config.pin = pin;
        self
    }

    /// How many threads may serve [`blocking`](crate::runtime::blocking) jobs at a time (default: 512; 0 is taken for 1).
    pub fn max_blocking(mut self, threads: usize) -> Self {
        self.config.max_blocking = threads.max(1);
        self
    }

    /// How long a thread for [`blocking`](crate::runtime::blocking) jobs, or for behaviours that [may
    /// block](Self::on_blocking_threads), is kept while it has nothing to do (default: 10 s).
    pub fn blocking_keep_alive(mut self, time: Duration) -> Self {
        self.config.blocking_keep_alive = time;
        self
    }

    /// Runs the behaviours on up to so many threads that may be **blocked**, instead of workers: they
    /// are started as they are needed, and end when they have had nothing to do for a while
    /// ([`blocking_keep_alive`](Self::blocking_keep_alive)). For cowns around something that blocks: a
    /// file, a socket, a database's connection.
    ///
    /// A behaviour there may call [`Promise::wait`](crate::Promise::wait),
    /// [`Credits::acquire_blocking`](crate::credits::Credits::acquire_blocking) and the like. It keeps its
    /// cowns meanwhile: what it waits for must not need them, nor the last of the threads.
    ///
    /// Its [`blocking`](crate::runtime::blocking) jobs run on the same threads. A behaviour costs a lock more
    /// than on workers, and a switch of threads unless it follows another on the same cown.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, Runtime, ask};
    ///
    /// let files = Runtime::builder().on_blocking_threads(8).build()?;
    /// let (reader, cown) = (files.run(|| Cown::new(())), Cown::new(20));
    /// let sum = ask(&reader, move |()| ask(&cown, |n| *n + 1).wait());
    /// assert_eq!(sum.wait(), Ok(Ok(21)));
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    pub fn on_blocking_threads(mut self, max: usize) -> Self {
        self.config.workers = max;
        self.hosted_by(Host::Blocking, None)
    }

    pub(super) fn hosted_by(mut self, host: Host, spawn_worker: Option<SpawnWorker>) -> Self {
        self.config.host = host;
        self.spawn_worker = spawn_worker;
        self
    }

    /// Makes the runtime a sibling of another one: they share what layers above keep for a runtime
    /// ([`RuntimeHandle::extension`]). Unless it is given a [panic hook](Self::panic_hook), or something to be
    /// [around its threads](Self::around_threads), it has that of the other one.
    pub fn grouped_with(mut self, home: RuntimeHandle) -> Self {
        let other = &shared::get(home.0).config;
        self.config.extensions = other.extensions.clone();
        self.config.panic_hook = self.config.panic_hook.or_else(|| other.panic_hook.clone());
        let around = self.config.around_threads;
        self.config.around_threads = around.or_else(|| other.around_threads.clone());
        self
    }

    /// Watches over the workers: a behaviour that keeps one for longer than `limit` is reported to the
    /// [panic hook](Self::panic_hook) as [`Fault::Stalled`], once, with its type; and a spare worker
    /// runs what would wait for it, until it has ended (default: no watchdog).
    ///
    /// ```
    /// # use coact_core as coact;
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    /// use coact::{Cown, Runtime, ask, when};
    ///
    /// let limit = Duration::from_millis(20);
    /// let runtime = Runtime::builder().workers(1).watchdog(limit).build()?;
    /// let [slow, quick] = runtime.run(|| [0, 1].map(Cown::new));
    /// let (finish, finished) = mpsc::channel::<()>();
    /// when(&slow, move |_| finished.recv().unwrap());  // keeps the only worker
    /// assert_eq!(ask(&quick, |n| *n).wait(), Ok(1));   // runs all the same
    /// finish.send(()).unwrap();
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    ///
    /// A stall is found after one to one and a quarter times the limit. A spare has the workers'
    /// stack size, and runs their [`on_start`](Self::on_start) and [`on_stop`](Self::on_stop).
    /// What one cown needs in turn still waits for the behaviour that holds it.
    ///
    /// **Cost.** Without a watchdog none. With one, a thread that looks four times in the limit, and
    /// four stores for each behaviour.
    ///
    /// Pumps, [blocking threads](Self::on_blocking_threads) and simulations have no use for it.
    pub fn watchdog(mut self, limit: Duration) -> Self {
        self.config.watchdog = Some(limit);
        self
    }

    /// How many spare workers the [watchdog](Self::watchdog) may run at a time (default: as many as
    /// there are workers). With 0, it only reports.
    pub fn spare_workers(mut self, max: usize) -> Self {
        self.config.spare_workers = Some(max);
        self
    }

    /// What is told of each [`Fault`]: each panic, each behaviour that is skipped for poison, each that
    /// the [watchdog](Self::watchdog) finds; on the thread where it happens (default: a [`tracing`] event). The hook must not block; if it panics
    /// itself, that is reported through `tracing`.
    pub fn panic_hook(mut self, hook: impl Fn(&Fault) + Send + Sync + 'static) -> Self {
        self.config.panic_hook = Some(Arc::new(hook));
        self
    }

    /// What each worker runs before its first behaviour. As there, what would block the worker is refused: waiting for
    /// work of this runtime could wait for this very worker.
    pub fn on_start(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.config.on_start = Some(Arc::new(hook));
        self
    }

    /// What each worker runs after its last behaviour.
    pub fn on_stop(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.config.on_stop = Some(Arc::new(hook));
        self
    }

    /// Puts something around the whole life of each thread that runs behaviours, futures or blocking jobs:
    /// it must call what it is given, which returns when the thread ends. For what a thread has to be in,
    /// such as the context of an async runtime:
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
    /// [`on_start`](Self::on_start) and [`on_stop`](Self::on_stop) are called inside of it. If it does not
    /// call what it is given, or panics before, the thread runs without it.
    ///
    /// **Cost.** One call for each thread: none for a behaviour.
    ///
    /// The threads are the workers, the spare ones, and those for what may block; of a system, those of all
    /// its hosts ([the others of its group](Self::grouped_with) have it too). Where a thread of the program runs behaviours
    /// itself (a [`Pump`], [`when_here`](crate::when_here), `Host::caller`), it has to enter what it needs.
    /// Simulations have no threads.
    pub fn around_threads(
        mut self,
        wrapper: impl Fn(&mut dyn FnMut()) + Send + Sync + 'static,
    ) -> Self {
        self.config.around_threads = Some(Arc::new(wrapper));
        self
    }

    /// What is called when work arrives at a [`Pump`] while nobody pumps, on the thread that brings
    /// the work: to post an event to the loop that is to call [`Pump::run_pending`]. It is called
    /// once until the pump is next run, and also when a run leaves work behind.
    ///
    /// The hook may run in the middle of another runtime's work, so it must be short: it must not
    /// block, nor work on cowns. Other runtimes have no use for it.
    pub fn on_ready(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.config.on_ready = Some(Arc::new(hook));
        self
    }

    /// Makes this the runtime of all threads that have entered none, in the place of the
    /// [global](Runtime::global) one, until it is dropped or shut down: of the program's main thread, of the
    /// threads of an async runtime, and so on.
    ///
    /// There is one default at a time. What such threads have made before is not moved. Pumps and simulations
    /// are no defaults.
    ///
    /// ```standalone_crate
    /// # use coact_core as coact;
    /// use coact::{Cown, Runtime};
    ///
    /// let runtime = Runtime::builder().name("bank").as_default().build()?;
    /// assert_eq!(Cown::new(0).runtime(), runtime.handle());
    /// let elsewhere = std::thread::spawn(|| Cown::new(0).runtime().name());
    /// assert_eq!(elsewhere.join().unwrap(), "bank");
    /// # Ok::<(), coact_core::runtime::BuildError>(())
    /// ```
    pub fn as_default(mut self) -> Self {
        self.config.as_default = true;
        self
    }

    /// Reports the first use of the [global](Runtime::global) runtime by a thread that has entered none to
    /// this runtime's [panic hook](Self::panic_hook), as [`Fault::NotEntered`], once: what is made
    /// there is easily lost where this runtime was meant. The main runtime of a `System` always does
    /// so.
    ///
    /// Calling [`Runtime::global`] is no such use.
    pub fn expect_entered(mut self) -> Self {
        self.config.expects_entered = true;
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    /// [`BuildError`] names the setting that is at fault, or the operating system's refusal.
    pub fn build(self) -> Result<Runtime, BuildError> {
        self.build_as(simulated::is_active())
    }

    fn build_as(mut self, simulated: bool) -> Result<Runtime, BuildError> {
        // What is left of a runtime that has ended is to keep no executor.
        let spawn_worker = self.spawn_worker.take();
        let (id, config) = self.check(simulated)?;
        let mut runtime = Runtime::start(id, config, spawn_worker).map_err(BuildError::Thread)?;
        runtime.claim()?;
        Ok(runtime)
    }

    /// Makes a runtime whose behaviours run on the calling thread, when it says so; see [`Pump`].
    ///
    /// The number of workers, their stacks and cores have no meaning for it.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_pumped(mut self) -> Result<Pump, BuildError> {
        self.config.workers = 1;
        let (id, config) = self.hosted_by(Host::Pump, None).check(simulated::is_active())?;
        Ok(Pump::new(id, config))
    }

    fn check(self, simulated: bool) -> Result<(RuntimeId, Config), BuildError> {
        let mut config = self.config;
        if !(1..=MAX_WORKERS).contains(&config.workers) {
            return Err(BuildError::Workers(config.workers));
        }
        if config.throughput == 0 {
            return Err(BuildError::Throughput);
        }
        if config.name.contains('\0') {
            return Err(BuildError::Name(config.name.to_string()));
        }
        if config.watchdog == Some(Duration::ZERO) {
            return Err(BuildError::Watchdog);
        }
        if config.host == Host::Blocking {
            config.max_blocking = config.workers;
        }
        if simulated {
            config.simulated = true;
            config.panic_hook = Some(telling_the_simulation(config.panic_hook));
        }
        let used = if simulated { simulated::free_id() } else { None };
        let id = used.or_else(RuntimeId::next).ok_or(BuildError::TooMany)?;
        if config.extensions.root().is_none() {
            config.extensions = Extensions::of(id);
        }
        Ok((id, config))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.config.workers)
            .field("name", &self.config.name)
            .field("throughput", &self.config.throughput)
            .field("stack_size", &self.config.stack_size)
            .field("pin", &self.config.pin)
            .finish_non_exhaustive()
    }
}

/// In a simulation a fault fails the run, whatever hook there is.
fn telling_the_simulation(hook: Option<PanicHook>) -> PanicHook {
    Arc::new(move |fault| {
        simulated::tell(fault);
        if let Some(hook) = &hook {
            hook(fault);
        }
    })
}

/// A runtime whose tasks a simulation runs. It has no threads.
#[cfg(feature = "sim")]
pub(crate) fn new_simulated() -> Result<&'static crate::sched::shared::Shared, BuildError> {
    let mut builder = Runtime::builder().name("simulated").workers(1).panic_hook(simulated::tell);
    builder.config.simulated = true;
    let id = RuntimeId::next().ok_or(BuildError::TooMany)?;
    builder.config.extensions = Extensions::of(id);
    let elsewhere = super::elsewhere::elsewhere(&builder.config);
    Ok(crate::sched::start::make(id, builder.config, elsewhere).0)
}

/// A runtime whose workers a test makes for itself. It has no threads.
#[cfg(all(test, not(loom)))]
pub(crate) fn new_without_threads(
    builder: Builder,
) -> (&'static crate::sched::shared::Shared, Vec<parking::Parker>) {
    let (id, config) = builder.check(false).expect("the settings are right");
    crate::sched::start::make(id, config, None)
}

/// The settings of a runtime that a model makes for itself. It has no threads.
#[cfg(all(test, loom))]
pub(crate) fn config_in_model(workers: usize) -> Config {
    Runtime::builder().workers(workers).config
}
