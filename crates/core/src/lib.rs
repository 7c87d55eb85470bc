//! The core of Coact: cowns, behaviours on them, and the scheduler that runs these.
//!
//! Users take the crate `coact`, which exports all of this.
//!
//! Reading order: `cown` (state and handles), `behaviour` (what is queued on cowns; its README has
//! the protocol), `interrupt` (what happens between two behaviours), `group` (cowns with one queue), `sched` (who runs it; README), `promise`, `runtime`, `time`.

// In a model there are no workers.
#![cfg_attr(all(test, loom), allow(dead_code))]

mod behaviour;
mod body;
mod config;
mod cown;
mod credits;
mod current;
mod depth;
mod fault;
mod group;
mod ids;
mod interrupt;
mod panic;
mod paths;
mod promise;
mod queue;
mod runtime;
mod sched;
#[cfg(feature = "sim")]
pub mod sim;
mod simulated;
mod statics;
mod steps;
mod task;

mod time;

#[doc(hidden)]
pub use paths::Path;

/// What the layers above tell the deterministic mode for its reports; without the feature `sim`, nothing.
#[doc(hidden)]
pub mod waits {
    pub use crate::simulated::Polled;
    pub use crate::simulated::What;
}

pub use behaviour::answer::Answer;
pub use behaviour::batch::{Batch, BatchError, BatchRefusal, batch};
pub use behaviour::here::{MAX_NESTED_HERE, ask_here, serve_here, when_here};
pub use behaviour::scope::{Scope, scope};
pub use behaviour::spawn::{Overlap, PinnedApart, Refusal, WhenError};
pub use behaviour::when::{ask, try_ask, try_when, when, when_or_else};
pub use cown::access::{Held, Members, Poisoned, ReadMembers};
pub use cown::checked::{CheckedMembers, CheckedReadMembers, MemberError, PoisonedRead};
pub use cown::handle::{Cown, CownId, WeakCown};
pub use cown::iter::{MembersIter, MembersIterMut};
pub use cown::last_handle::LastHandleCheck;
pub use cown::set::{
    AsCown, Checked, CheckedAll, CheckedRead, CheckedReadAll, CownRef, CownSet, Read, ReadAll,
    Unchecked, UncheckedHandle, checked_all, read_all,
};
pub use cown::thread_bound::ThreadBound;
pub use credits::{Acquire, Credits, Permit};
pub use current::{
    Principal, may_block, on_behalf_of, principal, scoped, thread_extension, with_scoped,
};
pub use depth::Deep;
pub use fault::{Broken, Fault};
pub use group::Group;
pub use interrupt::{BlockedSet, Interruptible};
pub use panic::catch;
pub use promise::{Promise, Resolver};
pub use queue::interruptible::Gate;
pub use queue::slot::QueuePosition;
pub use runtime::{
    BuildError, Builder, EnterGuard, MoveError, OnCancel, Pump, PumpHandle, Runtime,
    ShutdownReport, Within, WorkerFuture, blocking, spawn_future,
};
pub use sched::busy::Busy;
pub use sched::context::is_cancelling;
pub use sched::ending::{Ending, Stuck};
pub use sched::runtime_handle::RuntimeHandle;
pub use time::once_caught::once_caught;
pub use time::{Run, Sleep, Timer, after, every, every_with_fixed_delay, sleep};
