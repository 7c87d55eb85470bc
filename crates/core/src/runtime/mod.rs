//! Runtimes: building, entering, waiting for and stopping them; blocking jobs, futures, and pumps.
//!
//! Programs that need no settings can ignore this module: the first cown starts the global runtime.

pub(crate) mod blocking;
mod build_error;
pub(crate) mod builder;
mod enter;
mod enter_guard;
pub(crate) mod future;
pub(crate) mod move_cowns;
mod on_cancel;
pub(crate) mod pump;
#[expect(clippy::module_inception, reason = "as in tokio: the file of the type `Runtime`")]
pub(crate) mod runtime;
mod shutdown;
mod shutdown_report;
mod without_workers;
mod worker_future;

pub use crate::current::may_block;
pub use crate::fault::Fault;
pub use crate::sched::hold_open::Busy;
pub use crate::sched::runtime_handle::RuntimeHandle;
pub use crate::sched::stuck_thread::Stuck;
pub use blocking::blocking;
pub use build_error::BuildError;
pub use builder::Builder;
#[cfg(all(test, loom))]
pub(crate) use builder::build::config_in_model;
#[cfg(feature = "sim")]
pub(crate) use builder::build::new_simulated;
pub use enter::Within;
pub use enter_guard::EnterGuard;
pub use future::spawn_future;
pub use move_cowns::MoveError;
pub use on_cancel::OnCancel;
pub use pump::Pump;
pub use runtime::Runtime;
pub use shutdown_report::ShutdownReport;
pub use worker_future::WorkerFuture;
