//! Actors: what they promise, a module a concept.
//!
//! As in `semantics`, programs that use `check` run with one worker, with two, and with more than
//! there are cores.

mod asking;
mod cycles;
mod directives;
mod groups;
mod holding;
mod lifecycle;
mod mailbox_model;
mod mailboxes;
mod messages;
mod order;
mod priorities;
mod sharing;
mod stash;
mod streams;
mod supervision;
mod threads;
mod ties;
mod timeouts;
mod world;
