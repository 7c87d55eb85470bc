//! The lifecycle of an actor: signals, failures, restarts, its end.
//!
//! It depends on the actor's type only through the few steps of [`TypedSteps`], so it is compiled
//! once and not for each type. Reading order: `core` (its data), `typed_steps`, `process_signals`
//! (what happens between two messages), `ending`, `supervised`, `announce`.

mod announce;
mod core;
mod ending;
mod erased_self;
mod process_signals;
mod supervised;
mod typed_steps;

pub(crate) use self::announce::{refuse_all, refuse_late};
pub(crate) use self::core::{ActorPhase, CellCore, RareCellState, reason_of};
pub(crate) use self::erased_self::{AnyStrong, AnyWeak};
pub(crate) use self::typed_steps::{LifecycleHook, PendingOp, TypedSteps};
