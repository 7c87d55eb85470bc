//! Things that are made and then have nothing to do: what does each cost in time and memory?

mod actix;
mod kameo;
mod mutex;
mod ractor;
mod tokio;

use coact_bench_workloads::{Given, Way};

fn actors(given: &Given) -> anyhow::Result<u64> {
    given.number("actors")
}

const SPAWN: &[&str] = &["spawn"];

/// Who does it. Of the larger actors a part is enough to fill the memory.
pub const WAYS: &[Way] = &[
    Way::new(
        SPAWN,
        "tokio",
        "a task that waits on an unbounded mpsc, spawned by a task",
        |given| tokio::run(given, actors(given)?),
    ),
    Way::new(SPAWN, "kameo", "actors with unbounded mailboxes", |given| {
        kameo::run(given, actors(given)?)
    })
    .share(10),
    Way::new(
        SPAWN,
        "ractor",
        "actors, each of which has started when its spawn is over",
        |given| ractor::run(given, actors(given)?),
    )
    .share(10),
    Way::new(SPAWN, "actix", "actors on one arbiter", |given| Ok(actix::run(actors(given)?))),
    Way::new(
        &["idle-cowns"],
        "mutex",
        "an Arc of a std mutex: the least that can be shared",
        |given| Ok(mutex::run(given.number("cowns")?)),
    ),
];
