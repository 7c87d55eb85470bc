//! A message an add, to an actor.

use coact_bench_workloads::threads;
use coact_bench_workloads::{Given, Measured};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call};

use super::common::Size;
use crate::runtime;

struct Counter;

enum Message {
    Add(u64),
    Sum(RpcReplyPort<u64>),
}

impl Actor for Counter {
    type Msg = Message;
    type State = u64;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Message>, (): ()) -> Result<u64, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(
        &self,
        _: ActorRef<Message>,
        message: Message,
        sum: &mut u64,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            Message::Add(amount) => *sum += amount,
            Message::Sum(reply) => reply.send(*sum)?,
        }
        Ok(())
    }
}

/// Plain threads.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    let (counter, _) = runtime.block_on(Actor::spawn(None, Counter, ()))?;
    let start = threads::run(size.producers, |_| {
        for _ in 0..size.each {
            counter.cast(Message::Add(1)).expect("the counter lives");
        }
    });
    let sum = runtime.block_on(async { call!(counter, Message::Sum) })?;
    Ok(Measured::new(start.elapsed(), size.total(), sum))
}
