//! Interruptible cowns, whose state is called between two behaviours: the mechanism on which actors
//! are built.
//!
//! A plain cown is passive: only the behaviours in its queue change it. An actor needs more.
//! Signals (stop, restart, suspend) overtake the messages in its mailbox; a panic in any behaviour
//! that held it must reach it; and while a handler waits for a future, messages wait but signals do
//! not. One mechanism provides all of this: a thread [interrupts](Cown::interrupt) the cown, and
//! then, before the next behaviour is granted the cown, its state is called:
//! [`Interruptible::on_interrupt`]. The call runs as a task of the scheduler with exclusive access
//! to the state, and returns whether the [`Gate`] is open, that is, whether the next behaviour may
//! run.
//!
//! # The protocol
//!
//! It uses two bits of the header's flags, [`INTERRUPT`](Flags::INTERRUPT) and
//! [`PARKED`](Flags::PARKED), and the *token* of the queue (see `queue/README.md`):
//!
//! ```text
//!   interrupt                                  grant (has the token)
//!   INTERRUPT: set; before it was              INTERRUPT set?  no:  grant the head
//!     set:     done, another thread is           yes: leave the token in the guard,
//!              on its way                             schedule the guard's task
//!     PARKED:  takes the token:
//!              schedule the guard's task   the guard's task (has the token)
//!     neither: append an empty request     INTERRUPT, PARKED: clear; on_interrupt
//!                                            open: pass over an empty request; grant again
//!                                            shut: INTERRUPT clear? set PARKED, leave the token
//!                                                  INTERRUPT set?   from the start
//!                                            reserved: INTERRUPT clear? the state takes its turn
//!                                                      INTERRUPT set?   from the start
//! ```
//!
//! *No interrupt is lost.* An interrupt that finds neither bit appends a request after its exchange
//! on the flags. The token under which that request is granted has acquired the append, so the
//! granting thread sees the bit, unless the guard's task has cleared it and called the state
//! meanwhile. An interrupt that finds INTERRUPT comes before the exchange that clears it, which is
//! an acquire: the following call sees what it left for the state. An interrupt that finds only
//! PARKED gets the token.
//!
//! *A state that must be called before anything else* is created in the middle of this: with
//! INTERRUPT set and an empty request in the queue, while its creator has the token
//! (`create_started.rs`). *A state that has become unreachable* ends behind everything spawned on
//! it (`last_handle.rs`). If that comes next when the state is called, it follows in the same task,
//! and the state may leave to it what the call is for ([`Interruptible::on_last_interrupt`]).
//!
//! *There is one token.* The guard's task sets PARKED, and gives up the token with it; of the
//! interrupts after that, exactly one finds PARKED without INTERRUPT, and takes the token.

mod blocked_set;
mod call_after_queue;
mod cown_methods;
mod create_started;
mod empty_request;
mod interrupt_task;
mod interruptible;
pub(crate) mod last_handle;
pub(crate) mod layout;
mod message_set;
#[cfg_attr(all(test, loom), path = "registry_in_model.rs")]
pub(crate) mod registry;
mod registry_table;
mod send_interrupt;
mod shutdown;
mod state_callbacks;
mod vtable;

pub use blocked_set::BlockedSet;
pub use cown_methods::SendPath;
pub use interruptible::{Interruptible, UnreachableCown};
pub use message_set::MessageTo;
pub(crate) use shutdown::{cut_off, end_in_order, moved};

#[cfg(all(test, loom))]
mod loom;
