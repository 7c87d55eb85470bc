//! A message an add, to an actor.

use std::thread;

use actix::prelude::*;
use coact_bench_workloads::Measured;
use coact_bench_workloads::threads;
use tokio::sync::oneshot;

use super::common::Size;

struct Counter(u64);

impl Actor for Counter {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct Add(u64);

impl Handler<Add> for Counter {
    type Result = ();

    fn handle(&mut self, Add(amount): Add, _: &mut Context<Self>) {
        self.0 += amount;
    }
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Sum;

impl Handler<Sum> for Counter {
    type Result = u64;

    fn handle(&mut self, _: Sum, _: &mut Context<Self>) -> u64 {
        self.0
    }
}

/// Plain threads, while the system's own has the actor.
pub fn run(size: Size) -> anyhow::Result<Measured> {
    System::new().block_on(async move {
        let counter = Counter(0).start();
        let (told, over) = oneshot::channel();
        let sending = counter.clone();
        thread::spawn(move || {
            let start = threads::run(size.producers, |_| {
                for _ in 0..size.each {
                    sending.do_send(Add(1));
                }
            });
            told.send(start).expect("the system waits");
        });
        let start = over.await?;
        let sum = counter.send(Sum).await?;
        Ok(Measured::new(start.elapsed(), size.total(), sum))
    })
}
