//! Actors: what they promise, a module a concept.
//!
//! As in `semantics`, programs that use `check` run with one worker, with two, and with more than
//! there are cores.

mod cycles;
mod directives;
mod holding;
mod hosts;
mod lifecycle;
mod messages;
mod moving;
mod order;
mod pinned;
mod ties;
mod world;
