//! Starts a runtime: its workers, and the threads that look after them.

use std::io;
use std::sync::OnceLock;
use std::thread;

use coact_sync::{affinity, asym};
use parking::Parker;

use super::hosted;
use super::runtime_shared::{self, RuntimeShared, TaskForwarder};
use super::tracked_thread::TrackedThread;
use super::worker::Worker;
use crate::config::{RuntimeGroupValues, WorkerConfig};
use crate::current::{self, NestedBody};
use crate::runtime_ids::RuntimeId;

/// Creates a registered runtime without threads; also returns the parkers of its workers.
pub(crate) fn make(
    id: RuntimeId,
    config: WorkerConfig,
    elsewhere: Option<TaskForwarder>,
) -> (&'static RuntimeShared, Vec<Parker>) {
    asym::init();
    let (shared, parkers) = RuntimeShared::new(id, config, elsewhere);
    let shared: &'static RuntimeShared = Box::leak(Box::new(shared));
    runtime_shared::register(shared);
    (shared, parkers)
}

/// Returns the runtime of threads that have entered none and have no default: started on first use.
///
/// # Panics
/// Panics if the system refuses a thread.
pub(crate) fn global() -> &'static RuntimeShared {
    static GLOBAL: OnceLock<&'static RuntimeShared> = OnceLock::new();
    let start = || {
        let id =
            RuntimeId::next().ok_or("this process has created 65,535 runtimes, the maximum")?;
        let config = WorkerConfig {
            name: "coact-global".into(),
            group_values: RuntimeGroupValues::of(id),
            ..WorkerConfig::default()
        };
        let (shared, parkers) = make(id, config, None);
        shared.start(parkers).map_err(|error| error.to_string())?;
        Ok::<_, String>(shared)
    };
    GLOBAL.get_or_init(|| match start() {
        Ok(shared) => shared,
        Err(error) => panic!("the global runtime could not be started: {error}"),
    })
}

impl RuntimeShared {
    /// Starts its threads.
    ///
    /// # Errors
    /// Returns the error if the system refuses one. Threads already started continue: the caller
    /// ends the runtime.
    pub(crate) fn start(&'static self, parkers: Vec<Parker>) -> io::Result<()> {
        self.start_workers(parkers)?;
        self.start_watchdog()
    }

    fn start_workers(&'static self, parkers: Vec<Parker>) -> io::Result<()> {
        if self.hosted().is_some() {
            let monitor = self.host_workers(parkers)?;
            self.threads.lock().push(monitor);
            return Ok(());
        }
        // A runtime on blocking threads has no workers: its threads are started on demand.
        for (index, parker) in parkers.into_iter().enumerate() {
            match self.start_worker(index, parker) {
                Ok(thread) => self.threads.lock().push(thread),
                Err(error) => {
                    self.has_only(index);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn start_watchdog(&'static self) -> io::Result<()> {
        let Some(watchdog) = self.watchdog() else { return Ok(()) };
        *self.alive.lock() += 1;
        let name = format!("{}-watchdog", self.config.name);
        let started = TrackedThread::start(thread::Builder::new().name(name), move || {
            watchdog.run(self);
            self.count_out();
        });
        match started {
            Ok(thread) => self.threads.lock().push(thread),
            Err(error) => {
                self.count_out();
                return Err(error);
            }
        }
        Ok(())
    }

    fn start_worker(&'static self, index: usize, parker: Parker) -> io::Result<TrackedThread> {
        let config = &self.config;
        let settings = self.thread_settings(format!("{}-{index}", config.name));
        TrackedThread::start(settings, move || {
            if config.pin {
                // A worker that cannot be pinned runs anywhere.
                affinity::pin_current_thread(index);
            }
            // The program's own code around the worker must not block either.
            let _inside = NestedBody::enter();
            self.between_hooks(|| {
                current::unnested(|| Worker::new(self, index, parker).run());
            });
            self.count_worker_out(index);
        })
    }

    /// Puts the workers of a runtime into their slots, and starts the monitor, from when on the
    /// runtime can be stopped.
    ///
    /// # Errors
    /// Returns the error if the system refuses the monitor a thread.
    fn host_workers(&'static self, mut parkers: Vec<Parker>) -> io::Result<TrackedThread> {
        let hosted = self.hosted().expect("its workers are hosted");
        let parker = parkers.pop().expect("the last one is that of the monitor");
        let settings = thread::Builder::new().name(format!("{}-monitor", self.config.name));
        let monitor = TrackedThread::start(settings, move || {
            // As on a worker's thread, blocking calls panic here.
            let _inside = NestedBody::enter();
            let wakers = hosted.look_after(self, &parker);
            self.count_out();
            hosted::wake_all(wakers);
        });
        match &monitor {
            Err(_) => self.has_only(0),
            Ok(_) => {
                for (index, parker) in parkers.into_iter().enumerate() {
                    hosted.park_in_slot(index, Worker::new(self, index, parker));
                }
            }
        }
        monitor
    }
}
