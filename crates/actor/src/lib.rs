//! Actors on cowns: state with an address, messages and a life of its own.
//!
//! An actor is a cown with a lifecycle; a message is a behaviour on one cown. So messages and
//! `when((&a, &b), …)` over several actors stand in one order, and none of it can deadlock. Users
//! take the crate `coact`, which exports all of this.
//!
//! Reading order: `actor` (what users write), `address` (how they reach it), `cell` (an actor as
//! the state of a cown: everything that happens to it), `directive` (what overtakes messages).

#![forbid(unsafe_code)]

mod actor;
mod address;
mod any;
mod ask;
mod cell;
mod context;
mod cycle;
mod directive;
mod error;
mod exit;
mod front;
mod hold;
mod host;
mod id;
mod life;
mod recipient;
mod reply;
mod spawn;
mod system;

pub use actor::{Actor, Handler, Message, MessageTo, Receive, SendActor};
pub use address::{Addr, WeakAddr};
pub use any::AnyAddr;
pub use ask::Ask;
#[doc(hidden)]
pub use cell::Cell;
pub use context::Context;
pub use cycle::{AskCycle, CycleAsk};
pub use error::{AskError, SendError, Stopped};
pub use exit::ExitReason;
pub use hold::HeldFuture;
pub use host::{CALLER_BATCH, Host, PumpActors, Spread};
pub use id::ActorId;
pub use life::{Down, Exited, MonitorId};
pub use recipient::Recipient;
pub use reply::Reply;
pub use spawn::{Spawn, actor, actor_local, spawn, spawn_local};
pub use system::{System, SystemBuilder, SystemError, SystemReport, UnknownDispatcher, dispatcher};
