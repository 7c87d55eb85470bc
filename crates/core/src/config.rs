//! The configuration of a runtime, as collected by its builder.

mod group_values;

use std::sync::Arc;
use std::thread;
use std::time::Duration;

pub(crate) use group_values::RuntimeGroupValues;

use crate::fault::Fault;
use crate::runtime_ids::{RuntimeId, RuntimeTable};

pub(crate) type PanicHook = Arc<dyn Fn(&Fault) + Send + Sync>;
type ThreadHook = Arc<dyn Fn() + Send + Sync>;
type ThreadWrapper = Arc<dyn Fn(&mut dyn FnMut()) + Send + Sync>;

/// The most workers that a runtime can have.
pub(crate) const MAX_WORKERS: usize = 4096;

/// The part of the configuration that the workers read.
#[derive(Clone)]
pub(crate) struct WorkerConfig {
    pub(crate) workers: usize,
    pub(crate) name: Arc<str>,
    pub(crate) throughput: u32,
    pub(crate) throttle_senders: bool,
    pub(crate) stack_size: Option<usize>,
    pub(crate) pin: bool,
    pub(crate) max_blocking: usize,
    pub(crate) blocking_keep_alive: Duration,
    /// How long a behaviour may occupy its worker before it is reported.
    pub(crate) watchdog: Option<Duration>,
    pub(crate) spare_workers: Option<usize>,
    pub(crate) panic_hook: Option<PanicHook>,
    pub(crate) on_start: Option<ThreadHook>,
    pub(crate) on_stop: Option<ThreadHook>,
    /// Wraps the body of each thread that runs user code.
    pub(crate) around_threads: Option<ThreadWrapper>,
    /// Called when work arrives while no thread pumps.
    pub(crate) on_ready: Option<ThreadHook>,
    pub(crate) host: ThreadKind,
    /// Whether threads that have entered no runtime use this one.
    pub(crate) as_default: bool,
    /// Whether to report threads that have entered no runtime.
    pub(crate) expects_entered: bool,
    /// Whether a simulation runs its tasks instead of workers.
    pub(crate) simulated: bool,
    pub(crate) group_values: RuntimeGroupValues,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            workers: thread::available_parallelism().map_or(1, usize::from),
            name: "coact".into(),
            throughput: 100,
            throttle_senders: true,
            stack_size: None,
            pin: false,
            max_blocking: 512,
            blocking_keep_alive: Duration::from_secs(10),
            watchdog: None,
            spare_workers: None,
            panic_hook: None,
            on_start: None,
            on_stop: None,
            around_threads: None,
            on_ready: None,
            host: ThreadKind::Workers,
            as_default: false,
            expects_entered: false,
            simulated: false,
            group_values: RuntimeGroupValues::default(),
        }
    }
}

impl WorkerConfig {
    /// Returns whether the runtime's behaviours run on workers, which must not be blocked.
    pub(crate) fn has_workers(&self) -> bool {
        matches!(self.host, ThreadKind::Workers | ThreadKind::Executor) && !self.simulated
    }
}

static CONFIGS: RuntimeTable<WorkerConfig> = RuntimeTable::new();

/// Registers the configuration of a runtime.
pub(crate) fn register(id: RuntimeId, config: &'static WorkerConfig) {
    CONFIGS.register(id, config);
}

/// Returns the configuration of a runtime; `None` in a model, which has no runtime.
pub(crate) fn of(id: RuntimeId) -> Option<&'static WorkerConfig> {
    CONFIGS.find(id)
}

/// The kind of threads that run the behaviours of a runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ThreadKind {
    /// Workers, which must not be blocked.
    Workers,
    /// Workers on threads lent by an [executor](crate::runtime::Builder::on_executor), which must
    /// not be blocked.
    Executor,
    /// The one thread that calls the [pump](crate::runtime::Pump).
    Pump,
    /// The threads of the [blocking pool](crate::runtime::blocking): a behaviour may block.
    Blocking,
}
