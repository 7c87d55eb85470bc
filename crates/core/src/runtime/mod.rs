//! Runtimes: making, entering, waiting for and stopping them.

pub(crate) mod blocking;
pub(crate) mod builder;
mod executor;
pub(crate) mod future;
mod guard;
mod handle;
mod moving;
mod on_cancel;
pub(crate) mod pump;
mod shutdown;
mod within;

pub use blocking::blocking;
#[cfg(all(test, loom))]
pub(crate) use builder::config_in_model;
#[cfg(feature = "sim")]
pub(crate) use builder::new_simulated;
pub use builder::{BuildError, Builder};
pub use executor::WorkerFuture;
pub use future::spawn_future;
pub use guard::EnterGuard;
pub use handle::Runtime;
pub use moving::MoveError;
pub use on_cancel::OnCancel;
pub use pump::{Pump, PumpHandle};
pub use shutdown::ShutdownReport;
pub use within::Within;
