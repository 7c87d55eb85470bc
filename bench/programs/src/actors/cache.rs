//! The cache is an actor, a task a future.

use coact::prelude::*;
use coact::runtime::spawn_future;
use coact::time::sleep;
use coact_bench_workloads::work::cache::CacheSizes;
use coact_bench_workloads::{Finish, Given, Measured};

use crate::cache;

#[derive(Actor, Default)]
struct Cache(coact_bench_workloads::work::cache::Cache);

#[handlers]
impl Cache {
    #[message]
    fn calc(&mut self, keys: u64) {
        self.0.calc(keys);
    }

    #[message]
    fn sum(&self) -> u64 {
        self.0.sum()
    }
}

pub fn run(given: &Given) -> anyhow::Result<Measured> {
    cache::run(given, start)
}

fn start(size: CacheSizes, done: Finish) {
    let cache = spawn(Cache::default());
    let tasks: Vec<_> = (0..size.tasks).map(|_| spawn_future(task(cache.clone(), size))).collect();
    let _over = spawn_future(async move {
        for task in tasks {
            task.await.expect("no task panics");
        }
        done.part(cache.ask(Sum).await.expect("the cache answers"));
    });
}

async fn task(cache: Addr<Cache>, CacheSizes { keys, sleep: pause, .. }: CacheSizes) {
    cache.ask(Calc { keys }).await.expect("the cache answers");
    sleep(pause).await.expect("the runtime runs");
    cache.ask(Calc { keys }).await.expect("the cache answers");
}
