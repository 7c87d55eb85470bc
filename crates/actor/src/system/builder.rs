//! The settings of a system, and its start.

use std::sync::Arc;

use coact_core::Runtime;
use coact_core::runtime::Builder;

use super::System;
use super::error::SystemError;
use crate::host::FamilyHosts;

/// Builds a [`System`].
#[must_use = "a builder does nothing until it is built"]
#[derive(Debug)]
pub struct SystemBuilder {
    main: Builder,
    dispatchers: Vec<(Arc<str>, Builder)>,
    blocking_threads: Option<usize>,
}

/// The name of the main runtime, in reports.
const MAIN: &str = "main";

impl SystemBuilder {
    /// Sets the number of workers of the main runtime (by default one per core).
    pub fn workers(self, workers: usize) -> Self {
        self.main(|main| main.workers(workers))
    }

    /// Sets how many messages in a row a worker of the main runtime handles of one actor before
    /// others get their turn (by default 100).
    pub fn throughput(self, messages: u32) -> Self {
        self.main(|main| main.throughput(messages))
    }

    /// Sets all other settings of the main runtime.
    pub fn main(mut self, settings: impl FnOnce(Builder) -> Builder) -> Self {
        self.main = settings(self.main);
        self
    }

    /// Makes the system the default of all threads that have not entered a runtime, until it is
    /// dropped or shut down: for example the program's main thread outside [`run`](System::run),
    /// and the threads of an async runtime. There is one such system at a time; see
    /// [`Builder::as_default`].
    ///
    /// Without this, whatever such threads spawn, subscribe to or set goes to the
    /// [global](Runtime::global) runtime, beside the system; the first time, this is reported as
    /// [`Fault::NotEntered`](coact_core::runtime::Fault::NotEntered).
    ///
    /// ```standalone_crate
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, spawn};
    /// use coact::system::System;
    ///
    /// struct Idle;
    /// impl Actor for Idle {}
    ///
    /// let system = System::builder().workers(1).as_default().build()?;
    /// assert_eq!(spawn(Idle).runtime(), system.runtime());
    /// # Ok::<(), coact_actor::system::SystemError>(())
    /// ```
    pub fn as_default(self) -> Self {
        self.main(Builder::as_default)
    }

    /// Wraps the execution of each thread of the system, on any host: this is how actors run inside
    /// an async runtime, so that their handlers can use its timers and sockets. See
    /// [`Builder::around_threads`].
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::system::System;
    ///
    /// # mod tokio { pub mod runtime { pub struct Handle; pub struct EnterGuard;
    /// # impl Handle { pub fn enter(&self) -> EnterGuard { EnterGuard } } } }
    /// # let handle = tokio::runtime::Handle;
    /// let system = System::builder()
    ///     .workers(2)
    ///     .around_threads(move |run| {
    ///         let _entered = handle.enter(); // That of tokio.
    ///         run();
    ///     })
    ///     .build()?;
    /// # Ok::<(), coact::system::SystemError>(())
    /// ```
    pub fn around_threads(
        self,
        wrapper: impl Fn(&mut dyn FnMut()) + Send + Sync + 'static,
    ) -> Self {
        self.main(|main| main.around_threads(wrapper))
    }

    /// Adds a dispatcher, whose threads are named after it. The settings are those of any runtime:
    /// workers and throughput, or threads [that may block](Builder::on_blocking_threads).
    pub fn dispatcher(mut self, name: &str, settings: impl FnOnce(Builder) -> Builder) -> Self {
        let builder = settings(Runtime::builder().name(name));
        self.dispatchers.push((name.into(), builder));
        self
    }

    /// Sets the maximum number of threads for [resource actors](crate::system::Host::blocking) (by
    /// default 512).
    pub fn blocking_threads(mut self, threads: usize) -> Self {
        self.blocking_threads = Some(threads.max(1));
        self
    }

    /// Starts the runtimes.
    ///
    /// # Errors
    /// Returns a [`SystemError`] that names the runtime at fault.
    pub fn build(self) -> Result<System, SystemError> {
        let Self { main, dispatchers, blocking_threads } = self;
        if let Some(name) = first_double(&dispatchers) {
            return Err(SystemError::Duplicate(name.to_string()));
        }
        let main = build(MAIN, main.expect_entered())?;
        let home = main.handle();
        let hosts = FamilyHosts::of(home);
        if let Some(threads) = blocking_threads {
            hosts.set_blocking_threads(threads);
        }
        let mut runtimes = vec![(Arc::from(MAIN), main)];
        for (name, builder) in dispatchers {
            let runtime = build(&name, builder.grouped_with(home))?;
            hosts.add_dispatcher(Arc::clone(&name), runtime.handle());
            runtimes.push((name, runtime));
        }
        Ok(System { main: home, runtimes })
    }
}

fn first_double(dispatchers: &[(Arc<str>, Builder)]) -> Option<&str> {
    let names = || dispatchers.iter().map(|(name, _)| &**name);
    names()
        .enumerate()
        .find(|(at, name)| names().take(*at).any(|before| before == *name))
        .map(|(_, name)| name)
}

fn build(name: &str, builder: Builder) -> Result<Runtime, SystemError> {
    builder.build().map_err(|error| SystemError::Build { runtime: name.to_string(), error })
}

impl System {
    /// Returns the settings for a system.
    pub fn builder() -> SystemBuilder {
        SystemBuilder { main: Runtime::builder(), dispatchers: Vec::new(), blocking_threads: None }
    }
}
