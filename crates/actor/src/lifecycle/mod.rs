//! The lifecycle of an actor: signals, failures, restarts, its end.
//!
//! It depends on the actor's type only through the few steps of [`Managed`], so it is compiled once
//! and not for each type. Reading order: `core` (its data), `managed`, `signals` (what happens
//! between two messages), `ending`, `supervised`, `announce`.

mod announce;
mod cell_state;
mod ending;
mod managed;
mod own_address;
mod signals;
mod supervised;

pub(crate) use self::announce::{refuse_all, refuse_late};
pub(crate) use self::cell_state::{Core, Extras, Phase, reason_of};
pub(crate) use self::managed::{Hook, Managed, PendingOp};
pub(crate) use self::own_address::{AnyStrong, AnyWeak};
