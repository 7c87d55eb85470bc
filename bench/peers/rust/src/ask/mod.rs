//! A client that asks a server, again and again, each time waiting for the reply.

mod actix;
mod common;
mod crossbeam;
mod kameo;
mod ractor;
mod tokio;

use coact_bench_workloads::Way;
use common::Size;

const LATENCY: &[&str] = &["ask-latency"];

const THREAD: &[&str] = &["actor-wait"];

const TASKS: &str = "a task asks a task: mpsc there, oneshot back";

const KAMEO: &str = "a task asks an actor, `ask(..).await`";

const RACTOR: &str = "a task asks an actor, `call!`";

const ACTIX: &str = "`send(..).await` in a future on the actor's arbiter";

const ACTIX_ARBITERS: &str = "`send(..).await` in a future on another arbiter";

/// Who does it. A part of it is enough where each round trip wakes two threads.
pub const WAYS: &[Way] = &[
    Way::new(LATENCY, "tokio", TASKS, |given| tokio::run(given, Size::headline(given)?)),
    Way::new(LATENCY, "kameo", KAMEO, |given| kameo::run(given, Size::headline(given)?)),
    Way::new(LATENCY, "ractor", RACTOR, |given| ractor::run(given, Size::headline(given)?)),
    Way::new(LATENCY, "actix", ACTIX, |given| Ok(actix::run(1, Size::headline(given)?))),
    Way::new(LATENCY, "actix-arbiters", ACTIX_ARBITERS, |given| {
        Ok(actix::run(given.workers()?, Size::headline(given)?))
    })
    .share(10),
    Way::new(&["cown-ask"], "tokio", TASKS, |given| tokio::run(given, Size::micro(given)?)),
    Way::new(THREAD, "tokio", "a thread asks a task: mpsc there, oneshot back", |given| {
        tokio::wait(given, Size::micro(given)?)
    }),
    Way::new(THREAD, "crossbeam", "a thread asks a thread", |given| {
        Ok(crossbeam::run(Size::micro(given)?))
    }),
    Way::new(&["cown-ask"], "crossbeam", "a thread asks a thread", |given| {
        Ok(crossbeam::run(Size::micro(given)?))
    })
    .share(100),
];
