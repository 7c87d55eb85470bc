//! A client that asks a server, again and again, each time waiting for the reply.

mod actix;
mod crossbeam;
mod kameo;
mod ractor;
mod tokio;

use coact_bench::harness::program::Given;

use crate::way::Way;

/// The server replies with the number of requests it has seen, the client adds the replies up.
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

fn rounds(given: &Given) -> anyhow::Result<u64> {
    given.number("round_trips")
}

const ACTORS: &[&str] = &["actor-ask"];

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(
        &["cown-ask", "actor-ask"],
        "tokio",
        "a task asks a task: mpsc there, oneshot back",
        |given| tokio::run(given, rounds(given)?),
    ),
    Way::new(
        &["actor-wait"],
        "tokio",
        "a plain thread asks a task: mpsc there, oneshot back",
        |given| tokio::wait(given, rounds(given)?),
    ),
    Way::new(&["cown-ask"], "crossbeam", "a thread asks a thread", |given| {
        Ok(crossbeam::run(rounds(given)?))
    })
    .share(100),
    Way::new(&["actor-wait"], "crossbeam", "a thread asks a thread", |given| {
        Ok(crossbeam::run(rounds(given)?))
    }),
    Way::new(ACTORS, "kameo", "a task asks an actor, `ask(..).await`", |given| {
        kameo::run(given, rounds(given)?)
    }),
    Way::new(ACTORS, "ractor", "a task asks an actor, `call!`", |given| {
        ractor::run(given, rounds(given)?)
    }),
    Way::new(ACTORS, "actix", "`send(..).await` in a future on the server's arbiter", |given| {
        Ok(actix::run(1, rounds(given)?))
    }),
    Way::new(ACTORS, "actix-arbiters", "the same, each on an arbiter of its own", |given| {
        Ok(actix::run(2, rounds(given)?))
    })
    .share(10),
];
