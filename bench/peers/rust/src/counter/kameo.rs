//! A message an add, to an actor.

use coact_bench_workloads::threads;
use coact_bench_workloads::{Given, Measured};
use kameo::Actor;
use kameo::actor::Spawn;
use kameo::mailbox::unbounded;
use kameo::message::{Context, Message};

use super::common::Size;
use crate::runtime;

#[derive(Actor)]
struct Counter(u64);

struct Add(u64);

impl Message<Add> for Counter {
    type Reply = ();

    async fn handle(&mut self, Add(amount): Add, _: &mut Context<Self, ()>) {
        self.0 += amount;
    }
}

struct Sum;

impl Message<Sum> for Counter {
    type Reply = u64;

    async fn handle(&mut self, _: Sum, _: &mut Context<Self, u64>) -> u64 {
        self.0
    }
}

/// Plain threads.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    let _entered = runtime.enter();
    let counter = Counter::spawn_with_mailbox(Counter(0), unbounded());
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            counter.tell(Add(1)).try_send().expect("the counter lives");
        }
    });
    let sum = runtime.block_on(async { counter.ask(Sum).await })?;
    Ok(Measured::new(start.elapsed(), size.total(), sum))
}
