//! A client that asks a server, again and again, each time waiting for the reply.

mod actix;
mod crossbeam;
mod kameo;
mod ractor;
mod tokio;

use coact_bench_workloads::{Given, Way};

/// The server replies with the number of requests that it has seen.
#[derive(Default)]
struct Server {
    requests: u64,
}

impl Server {
    fn answer(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }
}

/// How often, and what is made of the answers.
#[derive(Clone, Copy)]
pub struct Size {
    rounds: u64,
    tally: fn(u64, u64) -> u64,
}

impl Size {
    /// The answers are counted.
    fn headline(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { rounds: given.number("asks")?, tally: |count, _| count + 1 })
    }

    /// The answers are added up.
    fn micro(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { rounds: given.number("round_trips")?, tally: |sum, answer| sum + answer })
    }
}

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
