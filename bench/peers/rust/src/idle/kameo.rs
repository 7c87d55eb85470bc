//! An actor each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use coact_bench_workloads::Given;
use coact_bench_workloads::Measured;
use coact_bench_workloads::memory::{Begun, places};
use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::error::Infallible;
use kameo::mailbox::unbounded;
use kameo::message::{Context, Message};

use crate::runtime;

struct Number(u64);

impl Actor for Number {
    type Args = (u64, Arc<AtomicU64>);
    type Error = Infallible;

    async fn on_start(
        (number, started): Self::Args,
        _: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        // ORDERING: Relaxed. Only counted.
        started.fetch_add(1, Ordering::Relaxed);
        Ok(Number(number))
    }
}

struct Which;

impl Message<Which> for Number {
    type Reply = u64;

    async fn handle(&mut self, _: Which, _: &mut Context<Self, u64>) -> u64 {
        self.0
    }
}

/// Spawns them in a task, and waits until all have started.
pub fn run(given: &Given, count: u64) -> anyhow::Result<Measured> {
    runtime::start(given.workers()?)?.block_on(async move { Ok(tokio::spawn(make(count)).await?) })
}

async fn make(count: u64) -> Measured {
    let mut all = places(count);
    let started = Arc::new(AtomicU64::new(0));
    let begun = Begun::now();
    for (number, place) in (0..).zip(&mut all) {
        let started = Arc::clone(&started);
        *place = Some(Number::spawn_with_mailbox((number, started), unbounded()));
    }
    while started.load(Ordering::Relaxed) < count {
        tokio::task::yield_now().await;
    }
    let mut measured = begun.measured(count);
    for (number, actor) in (0..).zip(all.iter().flatten()) {
        let answer = actor.ask(Which).await.expect("it answers");
        measured.result += u64::from(answer == number);
    }
    measured
}
