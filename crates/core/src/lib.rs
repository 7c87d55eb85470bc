//! The core of Coact: cowns, behaviours on them, and the scheduler that runs behaviours.
//!
//! Users depend on the crate `coact`, which re-exports these modules.
//!
//! Reading order: `cown` (state and handles), `behaviour` (requests queued on cowns; the protocol
//! is in `queue/README.md`), `interrupt` (what runs between two behaviours), `group` (cowns that
//! share one queue), `sched` (the scheduler; see its README), `promise`, `runtime`, `time`.

// Models have no workers.
#![cfg_attr(all(test, loom), allow(dead_code))]

pub mod behaviour;
mod body;
mod code_sharing;
mod config;
pub mod cown;
pub mod credits;
mod current;
mod drop_depth;
mod fault;
pub mod group;
mod interrupt;
mod panic;
mod path_coverage;
mod poll_until;
pub mod promise;
mod queue;
pub mod runtime;
mod runtime_ids;
mod sched;
#[cfg(feature = "sim")]
pub mod sim;
mod simulated;
mod static_shim;
mod task;
#[cfg(all(test, not(loom)))]
mod tests;
pub mod time;

pub use behaviour::batch::{Batch, batch};
pub use behaviour::here::{call_here, when_here};
pub use behaviour::scope::scope;
pub use behaviour::when::{call, try_call, try_when, when, when_or_else};
pub use cown::handle::{Cown, WeakCown};
pub use fault::Broken;
pub use group::Group;
pub use promise::Promise;
pub use runtime::Runtime;

/// What the crates above need and programs do not: not part of the public interface, and may change
/// at any time.
#[doc(hidden)]
pub mod internals {
    pub use crate::behaviour::continuation::{Continuation, resolver_spawning};
    pub use crate::code_sharing::SHARES_CODE;
    pub use crate::cown::commit_participant::{
        CommitOutcome, CommitParticipant, OutcomeCallback, PendingCommit, PostCommit, Readiness,
        ReadyCallback,
    };
    pub use crate::cown::last_handle_check::LastHandleCheck;
    #[cfg(feature = "sim")]
    pub use crate::cown::mark_crowded;
    pub use crate::cown::set::{
        ConfirmedQuestion, Pipelined, SealedHandle, Unchecked, UncheckedHandle, confirmed,
        pipelined, refuse_volatile_beside_durable,
    };
    pub use crate::cown::thread_bound_value::ThreadBound;
    pub use crate::credits::named_waits::{acquire_one_for, credits_owed_by};
    pub use crate::current::{
        IdleWait, Principal, StackPlace, as_body, beside_decision, deciding, on_behalf_of,
        on_other_stack, principal, scoped, thread_extension, with_scoped,
    };
    pub use crate::drop_depth::stack_depth;
    pub use crate::interrupt::last_handle::interruptible_handle::InterruptibleHandle;
    pub use crate::interrupt::{BlockedSet, Interruptible, MessageTo, SendPath, UnreachableCown};
    pub use crate::panic::catch_drop::CatchDrop;
    pub use crate::panic::caught_panics::drop_quietly;
    pub use crate::panic::{catch, named, tell_of_panic};
    pub use crate::path_coverage::FastPath;
    pub use crate::promise::named_waits::{
        is_kept_back, owed_by, resolve_in_time_with, wait_as, wait_for, woken_by,
    };
    pub use crate::queue::interrupt_header::Gate;
    pub use crate::queue::slot::QueuePosition;
    pub use crate::runtime::move_cowns::move_handle_to;
    pub use crate::runtime::runtime::assert_may_end;
    pub use crate::sched::context::is_cancelling;
    pub use crate::sched::ending::Ending;
    pub use crate::sched::runtime_handle::{are_handles_stable, serve};
    pub use crate::sched::watchdog::current_task::goes_on_with;
    pub use crate::sched::worker::bound::WorkerPlace;
    #[cfg(feature = "sim")]
    pub use crate::sim::thread_from;
    pub use crate::simulated::{PolledFuture, WaitDescription, is_simulated};
    pub use crate::time::fixed_delay::repeat;
    pub use crate::time::once_caught::once_caught;
}
