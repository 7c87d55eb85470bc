//! The core of Coact: cowns, behaviours on them, and the scheduler that runs these.
//!
//! Users take the crate `coact`, which exports all of this.
//!
//! Reading order: `cown` (state and handles), `behaviour` (what is queued on cowns; its README has
//! the protocol), `attend` (what happens between two behaviours), `group` (cowns with one queue), `sched` (who runs it; README), `promise`, `runtime`, `time`.

// In a model there are no workers.
#![cfg_attr(all(test, loom), allow(dead_code))]

mod attend;
mod behaviour;
mod cown;
mod credits;
mod group;
mod panic;
mod promise;
mod runtime;
mod sched;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(not(feature = "sim"))]
#[path = "sim/disabled.rs"]
mod sim;
mod thread;
mod time;

pub use attend::{Attended, Door, Place, Survey};
pub use behaviour::batch::{Batch, batch};
pub use behaviour::here::{MAX_NESTED_HERE, serve_here, when_here};
pub use behaviour::scope::{Scope, scope};
pub use behaviour::spawn::{Overlap, PinnedApart, Refusal, WhenError};
pub use behaviour::when::{ask, try_ask, try_when, when};
pub use cown::access::{Held, Members, Poisoned, ReadMembers};
pub use cown::anchored::Anchored;
pub use cown::farewell::Farewell;
pub use cown::handle::{Cown, CownId, WeakCown};
pub use cown::set::{
    AsCown, Checked, CownSet, Read, ReadAll, Regardless, RegardlessHeld, read_all,
};
pub use credits::{Acquire, Credits, Permit};
pub use group::Group;
pub use panic::{Broken, Fault, catch};
pub use promise::{Promise, Resolver};
pub use runtime::{
    BuildError, Builder, Busy, EnterGuard, Home, MoveError, OnCancel, Pump, PumpHandle, Runtime,
    ShutdownReport, blocking, spawn_future,
};
pub use sched::context::{Principal, on_behalf_of, principal};
pub use thread::{may_block, thread_companion};
pub use time::{Sleep, Timer, after, every, sleep};
