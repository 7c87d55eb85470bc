//! From a [`Builder`] to a runtime: its settings are checked, and it gets its id.

use std::sync::Arc;
use std::time::Duration;

use super::Builder;
use crate::config::{MAX_WORKERS, PanicHook, RuntimeGroupValues, ThreadKind, WorkerConfig};
use crate::runtime::build_error::BuildError;
use crate::runtime::pump::Pump;
use crate::runtime::runtime::Runtime;
use crate::runtime_ids::RuntimeId;
use crate::simulated;

impl Builder {
    /// Starts the runtime.
    ///
    /// # Errors
    /// Returns the [`BuildError`] that names the invalid setting, or the operating system's error.
    pub fn build(self) -> Result<Runtime, BuildError> {
        self.build_as(simulated::is_active())
    }

    fn build_as(mut self, simulated: bool) -> Result<Runtime, BuildError> {
        // Leftovers of a runtime that has ended must not keep an executor alive.
        let spawn_worker = self.spawn_worker.take();
        let (id, config) = self.check(simulated)?;
        let mut runtime = Runtime::start(id, config, spawn_worker).map_err(BuildError::Thread)?;
        runtime.claim()?;
        Ok(runtime)
    }

    /// Creates a runtime whose behaviours run on the calling thread, on request; see [`Pump`].
    ///
    /// The number of workers, their stack size and pinning have no effect.
    ///
    /// # Errors
    /// See [`build`](Self::build).
    pub fn build_pumped(mut self) -> Result<Pump, BuildError> {
        self.config.workers = 1;
        let (id, config) = self.hosted_by(ThreadKind::Pump, None).check(simulated::is_active())?;
        Ok(Pump::new(id, config))
    }

    fn check(self, simulated: bool) -> Result<(RuntimeId, WorkerConfig), BuildError> {
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
        if config.host == ThreadKind::Blocking {
            config.max_blocking = config.workers;
        }
        if simulated {
            config.simulated = true;
            config.panic_hook = Some(telling_the_simulation(config.panic_hook));
        }
        let used = if simulated { simulated::free_id() } else { None };
        let id = used.or_else(RuntimeId::next).ok_or(BuildError::TooMany)?;
        if config.group_values.root().is_none() {
            config.group_values = RuntimeGroupValues::of(id);
        }
        Ok((id, config))
    }
}

/// In a simulation a fault fails the run, whatever hook is set.
fn telling_the_simulation(hook: Option<PanicHook>) -> PanicHook {
    Arc::new(move |fault| {
        simulated::tell(fault);
        if let Some(hook) = &hook {
            hook(fault);
        }
    })
}

/// Creates a runtime whose tasks a simulation runs. It has no threads.
#[cfg(feature = "sim")]
pub(crate) fn new_simulated()
-> Result<&'static crate::sched::runtime_shared::RuntimeShared, BuildError> {
    let mut builder = Runtime::builder().name("simulated").workers(1).panic_hook(simulated::tell);
    builder.config.simulated = true;
    let id = RuntimeId::next().ok_or(BuildError::TooMany)?;
    builder.config.group_values = RuntimeGroupValues::of(id);
    let elsewhere = crate::runtime::without_workers::elsewhere(&builder.config);
    Ok(crate::sched::start::make(id, builder.config, elsewhere).0)
}

/// Creates a runtime whose workers a test creates for itself. It has no threads.
#[cfg(all(test, not(loom)))]
pub(crate) fn new_without_threads(
    builder: Builder,
) -> (&'static crate::sched::runtime_shared::RuntimeShared, Vec<parking::Parker>) {
    let (id, config) = builder.check(false).expect("the settings are right");
    crate::sched::start::make(id, config, None)
}

/// The settings of a runtime that a model creates for itself. It has no threads.
#[cfg(all(test, loom))]
pub(crate) fn config_in_model(workers: usize) -> WorkerConfig {
    Runtime::builder().workers(workers).config
}
