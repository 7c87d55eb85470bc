//! Actors: what they promise, a module a concept.
//!
//! As in `semantics`, programs that use `check` run with one worker, with two, and with more than
//! there are cores.

mod corners;
mod cycles;
mod directives;
mod holding;
mod lifecycle;
mod messages;
mod order;
mod ties;
mod world;
