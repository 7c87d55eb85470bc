//! Actors: what they promise, a module a concept.
//!
//! As in `semantics`, programs that use `check` run with one worker, with two, and with more than
//! there are cores.

mod cycles;
mod directives;
mod events;
mod groups;
mod holding;
mod lifecycle;
mod messages;
mod order;
mod pools;
mod registry;
mod routers;
mod ties;
mod topics;
mod world;
