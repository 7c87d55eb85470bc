//! Actors: what they promise, a module a concept.
//!
//! As in `semantics`, programs that use `check` run with one worker, with two, and with more than
//! there are cores.

mod asking;
mod corners;
mod cycles;
mod dead_letters;
mod depth;
mod dropping;
mod endings;
mod events;
mod failed_runs;
mod groups;
mod holding;
mod hosts;
mod keyed_timers;
mod lifecycle;
mod links;
mod mailbox_model;
mod mailboxes;
mod messages;
mod moving;
mod order;
mod panics;
mod pinned;
mod pools;
mod priorities;
mod registry;
mod restarts;
mod room;
mod routers;
mod sharing;
mod signals;
mod stash;
mod streams;
mod stuck;
mod supervision;
mod thread_ends;
mod threads;
mod timeouts;
mod tokio;
mod topics;
mod undelivered;
mod world;
