//! The cache is an actor.

use actix::prelude::*;
use coact_bench_workloads::Measured;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::common::{Cache, Size};
use crate::system;

impl Actor for Cache {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct Calc {
    keys: u64,
}

impl Handler<Calc> for Cache {
    type Result = ();

    fn handle(&mut self, Calc { keys }: Calc, _: &mut Context<Self>) {
        self.calc(keys);
    }
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Sum;

impl Handler<Sum> for Cache {
    type Result = u64;

    fn handle(&mut self, _: Sum, _: &mut Context<Self>) -> u64 {
        self.sum()
    }
}

/// A future each, by turns on the arbiters.
pub fn run(arbiters: usize, size: Size) -> Measured {
    system::run(arbiters, 2 * size.tasks, 1, async move |arbiters, finish| {
        let cache = Cache::default().start();
        let (told, mut ended) = unbounded_channel::<()>();
        for number in 0..size.tasks as usize {
            arbiters.number(number).spawn(task(cache.clone(), size, told.clone()));
        }
        drop(told);
        // Closed when the last task has dropped its end.
        ended.recv().await;
        finish.part(cache.send(Sum).await.expect("the cache answers"));
    })
}

async fn task(cache: Addr<Cache>, Size { keys, sleep, .. }: Size, _told: UnboundedSender<()>) {
    cache.send(Calc { keys }).await.expect("the cache answers");
    actix::clock::sleep(sleep).await;
    cache.send(Calc { keys }).await.expect("the cache answers");
}
