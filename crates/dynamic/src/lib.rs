//! The dynamically typed language of Coact: messages of any types, cases that take them, and actors
//! that change their cases.
//!
//! * [`AnyTuple`] and [`Atom`]: what messages are made of.
//! * [`Cases`]: a partial function over tuples, written like a `match` by the macro `cases!`.
//! * [`spawn_dyn`]: actors that take tuples, by cases which they change as they run
//!   ([`DynContext::become_`]).
//! * [`this_thread`]: plain threads that take tuples, and wait for them where they are.
//!
//! ```
//! use coact::dynamic::{DynContext, atom, cases, spawn_dyn};
//!
//! let echo = spawn_dyn(|me: &mut DynContext| {
//!     me.become_(cases! { |me: &mut DynContext|
//!         (atom!("twice"), text: String) => me.reply((text.clone(), text)),
//!         message => me.reply(message),
//!     });
//! });
//! assert_eq!(echo.ask((atom!("twice"), "ho")).wait()?.to_string(), "(\"ho\", \"ho\")");
//! assert_eq!(echo.ask((1, 2)).wait()?.to_string(), "(1, 2)");
//! # Ok::<(), coact::actor::AskError>(())
//! ```
//!
//! After libcppa ([Charousset and Schmidt 2013](https://arxiv.org/abs/1301.0748), sections 3.5 to
//! 5).
//!
//! Reading order: `cases`, `dyn_actor` (the actor, its address, its messages), `context` (what a
//! case has), `case_machine` (which message is taken next), `skipped`, `request`, `spawn`.

#![forbid(unsafe_code)]

mod address;
mod after_clock;
mod case_machine;
mod cases;
mod context;
mod dyn_actor;
mod forwarded_settings;
mod received;
mod request;
mod skipped;
mod skipped_limit;
mod spawn;
mod thread;

pub use address::StateAddr;
pub use cases::{Cases, NoMatch};
pub use coact_fiber::{StackError, remaining_stack};
pub use coact_tuple::{
    AnyTuple, Atom, AtomError, CowTuple, Element, ElementType, IntoElement, IntoTuple, Opaque,
    Tuple, Types, atom,
};
pub use context::{DynCases, DynContext};
pub use dyn_actor::{DynActor, DynAddr, DynMessage};
pub use received::DynReply;
pub use request::DynRequest;
pub use spawn::{DynSpawn, dyn_actor, spawn_dyn, spawn_dyn_with};
pub use thread::{
    DoReceive, DynTask, DynThread, SameWorker, TaskRequest, ThreadRequest, ThreadSpawn,
    ThreadSpawnError, detached, fiber, spawn_async, spawn_async_with, spawn_detached, spawn_fiber,
    this_thread,
};

/// What the macro `cases!` writes, not for programs: not part of the interface, and subject to
/// change at any time.
#[doc(hidden)]
pub mod internals {
    pub use crate::cases::call::{ByRef, ByValue, CaseCall, GuardView, run_body};
    pub use crate::cases::shape::{ProjectionView, WantedElement, extract, wanted_by};
}
