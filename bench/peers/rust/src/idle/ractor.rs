//! An actor each.

use coact_bench_workloads::Given;
use coact_bench_workloads::Measured;
use coact_bench_workloads::memory::{Begun, places};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call};

use crate::runtime;

struct Number;

impl Actor for Number {
    type Msg = RpcReplyPort<u64>;
    type State = u64;
    type Arguments = u64;

    async fn pre_start(
        &self,
        _: ActorRef<Self::Msg>,
        number: u64,
    ) -> Result<u64, ActorProcessingErr> {
        Ok(number)
    }

    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        reply: RpcReplyPort<u64>,
        number: &mut u64,
    ) -> Result<(), ActorProcessingErr> {
        Ok(reply.send(*number)?)
    }
}

/// Spawns them in a task; each has started when its spawn is over.
pub fn run(given: &Given, count: u64) -> anyhow::Result<Measured> {
    runtime::start(given.workers()?)?.block_on(async move { Ok(tokio::spawn(make(count)).await?) })
}

async fn make(count: u64) -> Measured {
    let mut all = places(count);
    let begun = Begun::now();
    for (number, place) in (0..).zip(&mut all) {
        let (actor, _) = Actor::spawn(None, Number, number).await.expect("it starts");
        *place = Some(actor);
    }
    let mut measured = begun.measured(count);
    for (number, actor) in (0..).zip(all.iter().flatten()) {
        let answer = call!(actor, |reply| reply).expect("it answers");
        measured.result += u64::from(answer == number);
    }
    measured
}
