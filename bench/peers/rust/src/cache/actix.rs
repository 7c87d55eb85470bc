//! The cache is an actor.

use actix::prelude::*;
use coact_bench_workloads::Measured;
use coact_bench_workloads::work::cache::{Cache, CacheSizes};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::system;

#[derive(Default)]
struct Serving(Cache);

impl Actor for Serving {
    type Context = Context<Self>;
}

#[derive(Message)]
#[rtype(result = "()")]
struct Calc {
    keys: u64,
}

impl Handler<Calc> for Serving {
    type Result = ();

    fn handle(&mut self, Calc { keys }: Calc, _: &mut Context<Self>) {
        self.0.calc(keys);
    }
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Sum;

impl Handler<Sum> for Serving {
    type Result = u64;

    fn handle(&mut self, _: Sum, _: &mut Context<Self>) -> u64 {
        self.0.sum()
    }
}

/// A future each, by turns on the arbiters.
pub fn run(arbiters: usize, size: CacheSizes) -> Measured {
    system::run(arbiters, 2 * size.tasks, 1, async move |arbiters, finish| {
        let cache = Serving::default().start();
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

async fn task(
    cache: Addr<Serving>,
    CacheSizes { keys, sleep, .. }: CacheSizes,
    _told: UnboundedSender<()>,
) {
    cache.send(Calc { keys }).await.expect("the cache answers");
    actix::clock::sleep(sleep).await;
    cache.send(Calc { keys }).await.expect("the cache answers");
}
