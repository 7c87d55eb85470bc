//! Behaviours: closures that run once they hold all the cowns they name.
//!
//! [`when`] spawns one, and [`call`] also returns its result. The `try_` forms return the closure
//! instead of panicking ([`WhenError`]), the `_here` forms run it inline if possible, [`batch`]
//! spawns several in one step, [`scope`] lets them borrow, and what [`detain`] spawns keeps its
//! cowns until a guard is dropped.

// The protocol by which behaviours acquire their cowns is in `queue`.

mod admission;
mod announcement;
pub(crate) mod batch;
pub(crate) mod commit;
pub(crate) mod continuation;
pub(crate) mod detain;
mod erased_closure;
pub(crate) mod here;
#[cfg(all(test, loom))]
mod loom;
pub(crate) mod multi;
mod pair;
pub(crate) mod ready_or_promised;
pub(crate) mod refusal;
pub(crate) mod refuse;
pub(crate) mod scope;
pub(crate) mod single;
pub(crate) mod single_in_group;
mod sorted_requests;
pub(crate) mod spawn;
pub(crate) mod spawn_checks;
pub(crate) mod spawn_plain;
mod then;
pub(crate) mod when;

pub use crate::fault::NotCommitted;
pub use batch::{Batch, BatchError, BatchRefusal, IntoBatch, batch};
pub use detain::{Detained, detain, try_detain};
pub use here::{MAX_NESTED_HERE, call_here, serve_here, when_here};
pub use ready_or_promised::Answer;
pub use refusal::{Overlap, PinnedApart, Refusal, WhenError};
pub use scope::{Scope, scope};
pub use when::{call, try_call, try_when, when, when_or_else};
