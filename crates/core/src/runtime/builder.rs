//! What a runtime is made with.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::RuntimeId;
use super::handle::Runtime;
use super::home::{Companions, Home};
use super::host::Host;
use super::pump::Pump;
use crate::panic::Fault;
use crate::sched::shared;
use crate::sim;

type PanicHook = Arc<dyn Fn(&Fault) + Send + Sync>;
type ThreadHook = Arc<dyn Fn() + Send + Sync>;

/// What the workers know of the user's wishes.
#[derive(Clone)]
pub(crate) struct Config {
    pub(crate) workers: usize,
    pub(crate) name: Arc<str>,
    pub(crate) throughput: u32,
    pub(crate) stack_size: Option<usize>,
    pub(crate) pin: bool,
    pub(crate) max_blocking: usize,
    pub(crate) blocking_keep_alive: Duration,
    pub(crate) panic_hook: Option<PanicHook>,
    pub(crate) on_start: Option<ThreadHook>,
    pub(crate) on_stop: Option<ThreadHook>,
    /// What is told of work that arrives while nobody pumps.
    pub(crate) on_ready: Option<ThreadHook>,
    pub(crate) host: Host,
    /// Whether its tasks are run by a simulation instead of workers.
    pub(crate) simulated: bool,
    pub(crate) companions: Companions,
}

/// Makes a [`Runtime`] with other settings than the defaults.
///
/// ```
/// use coact_core::{Cown, Runtime, when};
///
/// let runtime = Runtime::builder().workers(2).name("bank").build()?;
/// let seen = runtime.run(|| {
///     let cown = Cown::new(0);
///     when(&cown, |n| *n += 1);
///     cown
/// });
/// assert_eq!(seen.into_inner().unwrap(), 1);
/// # Ok::<(), coact_core::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until it is built"]
pub struct Builder(Config);

/// Why a runtime could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// `workers(0)`, or more workers than 4,096.
    Workers(usize),
    /// `throughput(0)`.
    Throughput,
    /// A process can make 65,535 runtimes in its life, and has.
    TooMany,
    /// The operating system refused a thread.
    Thread(std::io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Workers(n) => {
                write!(f, "a runtime has 1 to {MAX_WORKERS} workers, not {n}")
            }
            BuildError::Throughput => {
                f.write_str("a throughput of 0 would run nothing: use 1 or more")
            }
            BuildError::TooMany => f.write_str("this process has made 65,535 runtimes: share them"),
            BuildError::Thread(error) => write!(f, "could not start a worker thread: {error}"),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BuildError::Thread(error) => Some(error),
            _ => None,
        }
    }
}

const MAX_WORKERS: usize = 4096;

impl Default for Builder {
    fn default() -> Self {
        Self(Config {
            workers: thread::available_parallelism().map_or(1, usize::from),
            name: "coact".into(),
            throughput: 100,
            stack_size: None,
            pin: false,
            max_blocking: 512,
            blocking_keep_alive: Duration::from_secs(10),
            panic_hook: None,
            on_start: None,
            on_stop: None,
            on_ready: None,
            host: Host::Workers,
            simulated: false,
            companions: Companions::default(),
        })
    }
}

impl Builder {
    /// How many worker threads run behaviours (default: one a core).
    pub fn workers(mut self, workers: usize) -> Self {
        self.0.workers = workers;
        self
    }

    /// The name of the runtime; its threads are called `name-0`, `name-1` and so on (default:
    /// `coact`).
    pub fn name(mut self, name: &str) -> Self {
        self.0.name = name.into();
        self
    }

    /// How many behaviours in a row a worker runs on one cown before others get their turn
    /// (default: 100). Less is fairer, more is faster.
    pub fn throughput(mut self, behaviours: u32) -> Self {
        self.0.throughput = behaviours;
        self
    }

    /// The size in bytes of the workers' stacks (default: that of [`std::thread`]).
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.0.stack_size = Some(bytes);
        self
    }

    /// Whether each worker is bound to one core (default: no).
    pub fn pin(mut self, pin: bool) -> Self {
        self.0.pin = pin;
        self
    }

    /// How many threads may serve [`blocking`](crate::blocking) jobs at a time (default: 512).
    pub fn max_blocking(mut self, threads: usize) -> Self {
        self.0.max_blocking = threads.max(1);
        self
    }

    /// How long a thread for [`blocking`](crate::blocking) jobs, or for behaviours that [may
    /// block](Self::on_blocking_threads), is kept while it has nothing to do (default: 10 s).
    pub fn blocking_keep_alive(mut self, time: Duration) -> Self {
        self.0.blocking_keep_alive = time;
        self
    }

    /// Runs the behaviours on up to so many threads that may be **blocked**, instead of workers: they
    /// are started as they are needed, and end when they have had nothing to do for a while
    /// ([`blocking_keep_alive`](Self::blocking_keep_alive)). For cowns around something that blocks: a
    /// file, a socket, a database's connection.
    ///
    /// A behaviour there may call [`Promise::wait`](crate::Promise::wait),
    /// [`Credits::acquire_blocking`](crate::Credits::acquire_blocking) and the like. It keeps its
    /// cowns meanwhile: what it waits for must not need them, nor the last of the threads.
    ///
    /// Its [`blocking`](crate::blocking) jobs run on the same threads. A behaviour costs a lock more
    /// than on workers, and a switch of threads unless it follows another on the same cown.
    ///
    /// ```
    /// use coact_core::{Cown, Runtime, ask};
    ///
    /// let files = Runtime::builder().on_blocking_threads(8).build()?;
    /// let (reader, cown) = (files.run(|| Cown::new(())), Cown::new(20));
    /// let sum = ask(&reader, move |()| ask(&cown, |n| *n + 1).wait());
    /// assert_eq!(sum.wait(), Ok(Ok(21)));
    /// # Ok::<(), coact_core::BuildError>(())
    /// ```
    pub fn on_blocking_threads(mut self, max: usize) -> Self {
        self.0.host = Host::Blocking;
        self.0.workers = max;
        self
    }

    /// Makes the runtime a sibling of another one: they share what layers above keep for a runtime
    /// ([`Home::companion`]). Unless it is given a [panic hook](Self::panic_hook), it has that of the
    /// other one.
    pub fn sibling_of(mut self, home: Home) -> Self {
        let other = &shared::get(home.0).config;
        self.0.companions = other.companions.clone();
        self.0.panic_hook = self.0.panic_hook.or_else(|| other.panic_hook.clone());
        self
    }

    /// What is told of each panic, and of each behaviour that is skipped for poison, on the thread
    /// where it happens (default: a [`tracing`] event). The hook must not block; if it panics
    /// itself, that is reported through `tracing`.
    pub fn panic_hook(mut self, hook: impl Fn(&Fault) + Send + Sync + 'static) -> Self {
        self.0.panic_hook = Some(Arc::new(hook));
        self
    }

    /// What each worker runs before its first behaviour.
    pub fn on_start(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.0.on_start = Some(Arc::new(hook));
        self
    }

    /// What each worker runs after its last behaviour.
    pub fn on_stop(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.0.on_stop = Some(Arc::new(hook));
        self
    }

    /// What is called when work arrives at a [`Pump`] while nobody pumps, on the thread that brings
    /// the work: to post an event to the loop that is to call [`Pump::run_pending`]. It is called
    /// once until the pump is next run, and also when a run leaves work behind.
    ///
    /// The hook may run in the middle of another runtime's work, so it must be short: it must not
    /// block, nor work on cowns. Other runtimes have no use for it.
    pub fn on_ready(mut self, hook: impl Fn() + Send + Sync + 'static) -> Self {
        self.0.on_ready = Some(Arc::new(hook));
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    /// [`BuildError`] names the setting that is at fault, or the operating system's refusal.
    pub fn build(self) -> Result<Runtime, BuildError> {
        self.build_as(sim::is_active())
    }

    /// The same, outside of the simulation that may go on on this thread.
    pub(super) fn build_unsimulated(self) -> Result<Runtime, BuildError> {
        self.build_as(false)
    }

    fn build_as(self, simulated: bool) -> Result<Runtime, BuildError> {
        let (id, config) = self.check(simulated)?;
        Runtime::start(id, config).map_err(BuildError::Thread)
    }

    /// Makes a runtime whose behaviours run on the calling thread, when it says so; see [`Pump`].
    ///
    /// The number of workers, their stacks and cores have no meaning for it.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_pumped(mut self) -> Result<Pump, BuildError> {
        self.0.workers = 1;
        self.0.host = Host::Pump;
        let (id, config) = self.check(sim::is_active())?;
        Ok(Pump::new(id, config))
    }

    fn check(self, simulated: bool) -> Result<(RuntimeId, Config), BuildError> {
        let Self(mut config) = self;
        if !(1..=MAX_WORKERS).contains(&config.workers) {
            return Err(BuildError::Workers(config.workers));
        }
        if config.throughput == 0 {
            return Err(BuildError::Throughput);
        }
        if config.host == Host::Blocking {
            config.max_blocking = config.workers;
        }
        if simulated {
            config.simulated = true;
            config.panic_hook = Some(telling_the_simulation(config.panic_hook));
        }
        let used = if simulated { sim::free_id() } else { None };
        let id = used.or_else(next_id).ok_or(BuildError::TooMany)?;
        if config.companions.eldest().is_none() {
            config.companions = Companions::of(id);
        }
        Ok((id, config))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.0.workers)
            .field("name", &self.0.name)
            .field("throughput", &self.0.throughput)
            .field("stack_size", &self.0.stack_size)
            .field("pin", &self.0.pin)
            .finish_non_exhaustive()
    }
}

/// In a simulation a fault fails the run, whatever hook there is.
fn telling_the_simulation(hook: Option<PanicHook>) -> PanicHook {
    Arc::new(move |fault| {
        sim::tell(fault);
        if let Some(hook) = &hook {
            hook(fault);
        }
    })
}

/// Ids are not given out twice: a cown that outlives its runtime must not end up in another.
fn next_id() -> Option<RuntimeId> {
    use std::num::NonZeroU16;
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let free = |id: u32| (id < RuntimeId::LIMIT as u32).then_some(id + 1);
    let id = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, free).ok()?;
    u16::try_from(id).ok().and_then(NonZeroU16::new).map(RuntimeId::new)
}

/// A runtime whose tasks a simulation runs. It has no threads.
#[cfg(feature = "sim")]
pub(crate) fn new_simulated() -> Result<&'static crate::sched::shared::Shared, BuildError> {
    use crate::sched::shared::{Shared, register};
    let mut builder = Runtime::builder().name("simulated").workers(1).panic_hook(crate::sim::tell);
    builder.0.simulated = true;
    let id = next_id().ok_or(BuildError::TooMany)?;
    builder.0.companions = Companions::of(id);
    let (shared, _) = Shared::new(id, builder.0);
    let shared: &'static Shared = Box::leak(Box::new(shared));
    register(shared);
    Ok(shared)
}
