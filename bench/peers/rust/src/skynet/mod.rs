//! Skynet: a tree of actors with ten children each; the leaves are numbered, and the numbers are
//! summed on the way up.

mod actix;
mod common;
mod kameo;
mod ractor;
mod tokio;

use coact_bench_workloads::Way;
use common::Size;

const STAY: &[&str] = &["skynet"];

const END: &[&str] = &["skynet-stop"];

const TASKS: &str = "a task and an unbounded mpsc a node";

const ACTORS: &str = "an actor a node, which spawns its children when it has started";

const DEALT: &str = "the same, with the root's children dealt to the arbiters";

/// Who does it. Of the larger actors a part is enough to fill the memory.
pub const WAYS: &[Way] = &[
    Way::new(STAY, "tokio", TASKS, |given| tokio::run(given, Size::stay(given)?)),
    Way::new(STAY, "kameo", ACTORS, |given| kameo::run(given, Size::stay(given)?)).share(10),
    Way::new(STAY, "ractor", ACTORS, |given| ractor::run(given, Size::stay(given)?)).share(10),
    Way::new(STAY, "actix", ACTORS, |given| Ok(actix::run(1, Size::stay(given)?))),
    Way::new(STAY, "actix-arbiters", DEALT, |given| {
        Ok(actix::run(given.workers()?, Size::stay(given)?))
    }),
    Way::new(END, "tokio", TASKS, |given| tokio::run(given, Size::end(given)?)),
    Way::new(END, "tokio-join", "a task a node, no mailbox: joined by its handle", |given| {
        tokio::join(given, Size::end(given)?)
    }),
    Way::new(END, "kameo", ACTORS, |given| kameo::run(given, Size::end(given)?)).share(10),
    Way::new(END, "ractor", ACTORS, |given| ractor::run(given, Size::end(given)?)).share(10),
    Way::new(END, "actix", ACTORS, |given| Ok(actix::run(1, Size::end(given)?))),
    Way::new(END, "actix-arbiters", DEALT, |given| {
        Ok(actix::run(given.workers()?, Size::end(given)?))
    }),
    Way::new(&["cown-skynet"], "tokio", TASKS, |given| tokio::run(given, Size::end(given)?)),
];
