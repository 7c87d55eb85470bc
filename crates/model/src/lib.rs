//! An executable model of behaviour-oriented concurrency, and a checker that holds a runtime to it.
//!
//! The model is Fig. 1 of *When Concurrency Matters: Behaviour-Oriented Concurrency* (OOPSLA 2023)
//! as plain code ([`Machine`]), extended by what Coact adds: read members, batches, panics, and
//! sets that name a cown twice. It is the oracle of the runtime's property tests:
//!
//! 1. make a [`Program`], by hand or with the strategy `programs` (feature `proptest`);
//! 2. interpret it on the runtime, with a [`TraceRecorder`] that takes a [`Trace`];
//! 3. [`check`] the trace. A [`Violation`] names the behaviours, the cowns and the rule.
//!
//! The model also answers on its own: [`random_trace`] runs a program by chance, and [`outcomes`]
//! lists all that a tiny program can come to.
//!
//! What actors add has a checker of its own: [`actors`].
//!
//! # Reading order
//!
//! `program` (what is run), `machine` and `poison` (the rules), `trace` and `record` (what is seen
//! of a run), `check` (the proof of what the checker decides, then its parts), `explore`,
//! `outcome`.
//!
//! # From the rules to the runtime
//!
//! | rule of Fig. 1 | here | production runtime |
//! | --- | --- | --- |
//! | step | [`Rule::Step`] | the body of the behaviour's closure |
//! | spawn | [`Rule::Spawn`] | `queue/append`: the requests are appended to the queue of each cown |
//! | run | [`Rule::Run`], [`Rule::Skip`] | `queue/grant`: the last missing cown is granted |
//! | end | [`Rule::End`] | `queue/release`: each cown is released to its next request |
//! | the list *P* of pending behaviours | the list in a [`Machine`] | the requests in all queues; only the order of conflicting ones is kept |
//! | the set *R* of running behaviours | the map in a [`Machine`] | the behaviours that are on a worker |
//!
//! The interval between the call and the return of a spawn is the runtime's freedom to append at
//! several cowns one after the other, as long as it looks like one instant.

#![forbid(unsafe_code)]

pub mod actors;

mod program;

mod machine;
mod poison;

mod record;
mod trace;

mod check;
mod violation;

mod explore;
mod outcome;

#[cfg(any(test, feature = "proptest"))]
mod generate;

mod plan;
mod program_display;

pub use check::check;
pub use explore::random_trace;
#[cfg(any(test, feature = "proptest"))]
pub use generate::{ProgramShape, programs};
pub use machine::{Machine, Rule};
pub use outcome::{CownTurn, Outcome, outcomes};
pub use poison::PoisonedCowns;
pub use program::{
    Access, BehaviourId, CownIndex, Op, Program, SetMember, SpawnCall, Spawner, Variable, checked,
    clear, read, write,
};
pub use record::{RunTicket, RunningBody, TraceRecorder};
pub use trace::{BodyExit, Event, Seq, Trace};
pub use violation::{BehaviourStep, ConflictOrder, NumberFault, OrderReason, Violation};
