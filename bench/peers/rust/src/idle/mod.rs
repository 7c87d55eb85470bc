//! Things that are made and then have nothing to do: what does each cost in time and memory?

mod actix;
mod kameo;
mod mutex;
mod ractor;
mod tokio;

use coact_bench::harness::program::Given;

use crate::way::Way;

fn cowns(given: &Given) -> anyhow::Result<u64> {
    given.number("cowns")
}

fn actors(given: &Given) -> anyhow::Result<u64> {
    given.number("actors")
}

const COWNS: &[&str] = &["idle-cowns"];

const ACTORS: &[&str] = &["idle-actors"];

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(
        COWNS,
        "tokio",
        "a task that waits on an unbounded mpsc, spawned by a task",
        |given| tokio::run(given, cowns(given)?),
    ),
    Way::new(COWNS, "mutex", "an Arc of a std mutex: the least that can be shared", |given| {
        Ok(mutex::run(cowns(given)?))
    }),
    Way::new(
        ACTORS,
        "tokio",
        "a task that waits on an unbounded mpsc, spawned by a task",
        |given| tokio::run(given, actors(given)?),
    ),
    Way::new(ACTORS, "kameo", "actors with unbounded mailboxes", |given| {
        kameo::run(given, actors(given)?)
    })
    .share(10),
    Way::new(
        ACTORS,
        "ractor",
        "actors, each of which has started when its spawn is over",
        |given| ractor::run(given, actors(given)?),
    )
    .share(10),
    Way::new(ACTORS, "actix", "actors on one arbiter", |given| Ok(actix::run(actors(given)?))),
];
