//! Supervision: actors that restart others.
//!
//! A supervised actor that goes down, for whatever reason, does not end: it drops its state, shuts
//! its door, tells its supervisor, and waits to be started again or ended. Its address and its
//! messages stay. All that happens to it happens in `cell.rs`, by the signals `Start` and `End`.
//!
//! Reading order: `plan` (all decisions, without actors), `overseer` (the actor that carries them
//! out), `ward` and `minor` (a child as it sees its supervisor, and is seen), `supervisor` and
//! `spec` (what users write).

mod backoff;
mod error;
mod info;
mod intensity;
mod minor;
mod notice;
mod overseer;
mod plan;
mod request;
mod spec;
mod strategy;
mod supervisor;
mod ward;

pub use backoff::Backoff;
pub use error::{ChildError, StartError};
pub use info::{ChildInfo, Counts};
pub use plan::ChildState;
pub use request::Request;
pub use spec::{Child, IntoChild, permanent, temporary, transient};
pub use strategy::{Restart, Shutdown, Strategy};
pub use supervisor::{Supervisor, Tree};

pub(crate) use intensity::Intensity;
pub(crate) use overseer::{Leave, Overseer};
pub(crate) use ward::Ward;
