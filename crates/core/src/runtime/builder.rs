//! The settings of a runtime, and their defaults.

pub(crate) mod build;
mod hooks;
mod on_executor;

use std::fmt;
use std::time::Duration;

use super::build_error::BuildError;
use super::runtime::Runtime;
use super::worker_future::SpawnWorker;
use crate::config::{ThreadKind, WorkerConfig};
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::runtime_shared;

/// Creates a [`Runtime`] with settings other than the defaults.
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
    config: WorkerConfig,
    /// How an executor spawns a worker that it hosts.
    spawn_worker: Option<SpawnWorker>,
}

impl Runtime {
    /// Creates a runtime with the default settings.
    ///
    /// # Errors
    /// See [`Builder::build`].
    pub fn new() -> Result<Self, BuildError> {
        Self::builder().build()
    }

    /// Creates a builder.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// Sets the number of worker threads that run behaviours (default: one per core).
    pub fn workers(mut self, workers: usize) -> Self {
        self.config.workers = workers;
        self
    }

    /// Sets the name of the runtime; its threads are named `name-0`, `name-1` and so on (default:
    /// `coact`).
    pub fn name(mut self, name: &str) -> Self {
        self.config.name = name.into();
        self
    }

    /// Sets how many behaviours in a row a worker runs on one cown before others get their turn
    /// (default: 100). A lower number is fairer, a higher one faster.
    pub fn throughput(mut self, behaviours: u32) -> Self {
        self.config.throughput = behaviours;
        self
    }

    /// Sets whether behaviours that send to an overloaded cown give way (default: yes).
    ///
    /// A cown or actor is *overloaded* if the number of behaviours that wait for it reaches four
    /// times the [throughput](Self::throughput), or 500. Its worker checks only now and then, so it
    /// may be more by then. If a behaviour of this runtime spawns another one on such a cown, the
    /// behaviours that wait for the first one's own cown give way to all other work of its worker:
    /// they run when the worker has found nothing else for a microsecond or two, and at the latest
    /// after some 64 tasks, times the number of those that give way before them. So a producer
    /// leaves its worker to others, including the consumer, and a producer that retries whatever
    /// was refused does not keep the consumer busy with nothing else.
    ///
    /// **This does not bound any queue.** While a worker has nothing else to do, a producer there
    /// continues at full speed, and a burst of some thousands may go unnoticed. To bound memory and
    /// waiting, use a bounded mailbox, [`Credits`](crate::credits::Credits), or a stream.
    ///
    /// Nothing is lost, refused or reordered, and nothing waits forever. A cown in a group is never
    /// overloaded, nor is one whose turns end with a behaviour on several cowns; and threads that
    /// are not workers do not give way: use a bounded mailbox for those.
    ///
    /// Disable this if a producer has more urgent things to do than its consumers, for example a
    /// server that also writes a log, and the consumers may fall behind.
    pub fn throttle_senders(mut self, throttle: bool) -> Self {
        self.config.throttle_senders = throttle;
        self
    }

    /// Sets the size in bytes of the workers' stacks (default: that of [`std::thread`]).
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.config.stack_size = Some(bytes);
        self
    }

    /// Sets whether each worker is pinned to a core (default: no). Has an effect on Linux only.
    pub fn pin(mut self, pin: bool) -> Self {
        self.config.pin = pin;
        self
    }

    /// Sets how many threads may serve [`blocking`](crate::runtime::blocking) jobs at a time
    /// (default: 512; 0 counts as 1).
    pub fn max_blocking(mut self, threads: usize) -> Self {
        self.config.max_blocking = threads.max(1);
        self
    }

    /// Sets how long an idle thread for [`blocking`](crate::runtime::blocking) jobs, or for
    /// behaviours that [may block](Self::on_blocking_threads), is kept (default: 10 s).
    pub fn blocking_keep_alive(mut self, time: Duration) -> Self {
        self.config.blocking_keep_alive = time;
        self
    }

    /// Runs the behaviours on up to `max` threads that may **block**, instead of on workers: they
    /// are started on demand, and end when they have been idle for a while
    /// ([`blocking_keep_alive`](Self::blocking_keep_alive)). For cowns around something that
    /// blocks: a file, a socket, a database connection.
    ///
    /// A behaviour there may call [`Promise::wait`](crate::Promise::wait),
    /// [`Credits::acquire_blocking`](crate::credits::Credits::acquire_blocking) and similar
    /// functions. It holds its cowns meanwhile: what it waits for must not need them, nor the last
    /// of the threads.
    ///
    /// [`blocking`](crate::runtime::blocking) jobs run on the same threads. A behaviour costs one
    /// lock more than on workers, and a switch of threads unless it follows another on the same
    /// cown.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, Runtime, call};
    ///
    /// let files = Runtime::builder().on_blocking_threads(8).build()?;
    /// let (reader, cown) = (files.run(|| Cown::new(())), Cown::new(20));
    /// let sum = call(&reader, move |()| call(&cown, |n| *n + 1).wait());
    /// assert_eq!(sum.wait(), Ok(Ok(21)));
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    pub fn on_blocking_threads(mut self, max: usize) -> Self {
        self.config.workers = max;
        self.hosted_by(ThreadKind::Blocking, None)
    }

    pub(super) fn hosted_by(mut self, host: ThreadKind, spawn_worker: Option<SpawnWorker>) -> Self {
        self.config.host = host;
        self.spawn_worker = spawn_worker;
        self
    }

    /// Puts the runtime into the group of another one: the runtimes of a group share the extensions
    /// of layers above ([`RuntimeHandle::extension`]). Unless set explicitly, the [panic
    /// hook](Self::panic_hook) and the wrapper [around its threads](Self::around_threads) are those
    /// of the other one.
    pub fn grouped_with(mut self, home: RuntimeHandle) -> Self {
        let other = &runtime_shared::get(home.0).config;
        self.config.group_values = other.group_values.clone();
        self.config.panic_hook = self.config.panic_hook.or_else(|| other.panic_hook.clone());
        let around = self.config.around_threads;
        self.config.around_threads = around.or_else(|| other.around_threads.clone());
        self
    }

    /// Enables the watchdog: a behaviour that occupies a worker for longer than `limit` is reported
    /// once to the [panic hook](Self::panic_hook), as
    /// [`Fault::Stalled`](crate::runtime::Fault::Stalled) with its type, and until it has ended a
    /// spare worker runs the tasks that would wait for it (default: no watchdog).
    ///
    /// ```
    /// # use coact_core as coact;
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    /// use coact::{Cown, Runtime, call, when};
    ///
    /// let limit = Duration::from_millis(20);
    /// let runtime = Runtime::builder().workers(1).watchdog(limit).build()?;
    /// let [slow, quick] = runtime.run(|| [0, 1].map(Cown::new));
    /// let (finish, finished) = mpsc::channel::<()>();
    /// when(&slow, move |_| finished.recv().unwrap());  // keeps the only worker
    /// assert_eq!(call(&quick, |n| *n).wait(), Ok(1));   // runs all the same
    /// finish.send(()).unwrap();
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    ///
    /// A stall is detected after 1 to 1.25 times the limit. A spare has the workers' stack size,
    /// and runs their [`on_start`](Self::on_start) and [`on_stop`](Self::on_stop). Behaviours that
    /// need the same cown still wait for the behaviour that holds it.
    ///
    /// **Cost.** None without a watchdog. With one, a thread that wakes four times per limit, and
    /// six stores per behaviour.
    ///
    /// It has no effect on pumps, [blocking threads](Self::on_blocking_threads) and simulations,
    /// nor on other runtimes of the [group](Self::grouped_with).
    pub fn watchdog(mut self, limit: Duration) -> Self {
        self.config.watchdog = Some(limit);
        self
    }

    /// Sets how many spare workers the [watchdog](Self::watchdog) may run at a time (default: the
    /// number of workers). With 0, it only reports.
    pub fn spare_workers(mut self, max: usize) -> Self {
        self.config.spare_workers = Some(max);
        self
    }

    /// Makes this the runtime of all threads that have entered none, in place of the
    /// [global](Runtime::global) one, until it is dropped or shut down: of the program's main
    /// thread, of the threads of an async runtime, and so on.
    ///
    /// There can be only one default at a time. What such threads have created before is not moved.
    /// Pumps and simulations cannot be the default.
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

    /// Reports the first use of the [global](Runtime::global) runtime by a thread that has entered
    /// none to this runtime's [panic hook](Self::panic_hook), once, as
    /// [`Fault::NotEntered`](crate::runtime::Fault::NotEntered): what is created there is easily
    /// lost if this runtime was meant. The main runtime of a `System` always does this.
    ///
    /// Calling [`Runtime::global`] does not count as a use.
    pub fn expect_entered(mut self) -> Self {
        self.config.expects_entered = true;
        self
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
