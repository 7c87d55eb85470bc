//! The cache is an actor.

use coact_bench_workloads::work::cache::{Cache, CacheSizes};
use coact_bench_workloads::{Given, Measured};
use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::mailbox::unbounded;
use kameo::message::{Context, Message};

use crate::runtime;

#[derive(Actor)]
struct Serving(Cache);

struct Calc {
    keys: u64,
}

impl Message<Calc> for Serving {
    type Reply = ();

    async fn handle(&mut self, Calc { keys }: Calc, _: &mut Context<Self, ()>) {
        self.0.calc(keys);
    }
}

struct Sum;

impl Message<Sum> for Serving {
    type Reply = u64;

    async fn handle(&mut self, _: Sum, _: &mut Context<Self, u64>) -> u64 {
        self.0.sum()
    }
}

/// A task each.
pub fn run(given: &Given, size: CacheSizes) -> anyhow::Result<Measured> {
    let runtime = runtime::start_with_time(given.workers()?)?;
    Ok(runtime::run(runtime, 2 * size.tasks, 1, move |finish| async move {
        let cache = Serving::spawn_with_mailbox(Serving(Cache::default()), unbounded());
        let tasks: Vec<_> =
            (0..size.tasks).map(|_| tokio::spawn(task(cache.clone(), size))).collect();
        for task in tasks {
            task.await.expect("no task panics");
        }
        finish.part(cache.ask(Sum).await.expect("the cache answers"));
    }))
}

async fn task(cache: ActorRef<Serving>, CacheSizes { keys, sleep, .. }: CacheSizes) {
    cache.ask(Calc { keys }).await.expect("the cache answers");
    tokio::time::sleep(sleep).await;
    cache.ask(Calc { keys }).await.expect("the cache answers");
}
