//! Supervision: actors that restart others.
//!
//! A [`Supervisor`], or a whole [`Tree`], starts its children from [specifications](Child)
//! ([`permanent`], [`transient`], [`temporary`]), and restarts them by its [`Strategy`]. The
//! address of a child and the messages to it survive restarts.

// A supervised actor that goes down does not end: it drops its state, shuts its gate, reports to
// its supervisor, and waits to be started again or ended. `cell.rs` implements this, on the signals
// `Start` and `End`.
//
// Reading order: `plan` (all decisions, without actors), `supervisor_actor` (carries them out),
// `supervisor_requests` (what it is told and asked), `child_handle` (how it reaches a child; the
// child's side is `supervision`, below the cell), `declared_tree`, `spec` (what users write) and
// `supervisor`.

mod backoff;
mod child_handle;
mod child_table;
mod command_waiters;
mod declared_tree;
mod error;
mod info;
mod log;
mod nested_supervisor;
mod plan;
mod readiness;
mod request_future;
mod spec;
mod strategy;
mod supervisor;
mod supervisor_actor;
mod supervisor_requests;

pub use backoff::Backoff;
pub use declared_tree::Tree;
pub use error::{ChildError, ReadyError, StartError};
pub use info::{ChildCounts, ChildInfo};
pub use plan::ChildState;
pub use request_future::Request;
pub use spec::{Child, IntoChild, permanent, temporary, transient};
pub use strategy::{AutoShutdown, Restart, Shutdown, Strategy};
pub use supervisor::Supervisor;
