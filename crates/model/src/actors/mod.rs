//! What actors promise, as a checker of traces.
//!
//! A harness runs a program of actors, records an [`ActorTrace`] and passes it to [`check`]. The
//! checker knows nothing of the implementation: it sees the settings of the actors, and events with
//! numbers from one counter. A [`PromiseViolation`] names the promise of `docs/semantics.md` that
//! the trace breaks.
//!
//! # Where the numbers are taken
//!
//! Every event has the number `at`. For something that a caller does (a spawn, a signal, a link),
//! `call` is taken right before the call and `at` right after it returned, so the moment at which
//! it took effect lies between them. For something that happens to the program, `at` is taken
//! inside of it: the first thing in a body, the last thing in a body, in a destructor, in a hook.
//! So a turn as recorded lies inside the time for which the runtime gave the actor away, and
//! whatever two turns overlap in the trace did overlap.
//!
//! # What is decided
//!
//! | promise | rule |
//! | --- | --- |
//! | O1, O2, M1 | `order`: an order of all spawns exists that agrees with real time and with what ran |
//! | A1, G2, G9, M7 | `turns`: turns on one actor, cown or group exclude each other, held ones too |
//! | G2 of mailboxes that sort | `sorted_messages`: each message comes in the place of one of its actor's |
//! | H7, G8 | `homes`: where an item runs |
//! | M2, M4, M5, M6, M7, M9 | `lifecycle`: hooks, signals, failures, and what runs between them |
//! | M3, M8 | `items`: each item has one outcome, each ask one answer, and they agree |
//! | M10 | `end_notices`: links and monitors, with the reason of the end |
//! | mailboxes | `mailboxes`: bounds, refusals, lanes and what is set aside |
//!
//! A rule is one-sided where the trace cannot decide: what may be legal is accepted.

mod check;
mod end_notices;
mod facts;
mod homes;
mod items;
mod lifecycle;
mod mailboxes;
mod order;
mod promise_violation;
mod sorted_messages;
#[cfg(test)]
mod tests;
mod trace;
mod turns;

pub use check::check;
pub use promise_violation::{ActorPromise, PromiseViolation};
pub use trace::{
    ActorEvent, ActorHook, ActorSettings, ActorSignal, ActorTrace, AskOutcome, EndReason, Item,
    ItemId, ItemKind, ItemMember, ItemTarget, LaneRule, RestartPolicy, WhenFull,
};
