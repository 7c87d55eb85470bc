//! The lifecycle of an actor: signals, failures, restarts, its end.
//!
//! It depends on the actor's type only through the few steps of [`Managed`], so it is compiled once
//! and not for each type. Reading order: `cell_state` (its data), `typed_steps`, `signals` (what happens
//! between two messages), `ending`, `supervised`, `announce`.

mod announce;
mod cell_state;
mod ending;
mod own_address;
mod signals;
mod supervised;
mod typed_steps;

pub(crate) use self::announce::{refuse_all, refuse_late};
pub(crate) use self::cell_state::{ActorPhase, Core, Extras, reason_of};
pub(crate) use self::own_address::{AnyStrong, AnyWeak};
pub(crate) use self::typed_steps::{Hook, Managed, PendingOp};
