//! The cache is an actor.

use coact_bench_workloads::work::cache::{Cache, CacheSizes};
use coact_bench_workloads::{Given, Measured};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, call};

use crate::runtime;

struct Serving;

enum Request {
    Calc(u64, RpcReplyPort<()>),
    Sum(RpcReplyPort<u64>),
}

impl Actor for Serving {
    type Msg = Request;
    type State = Cache;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Request>, (): ()) -> Result<Cache, ActorProcessingErr> {
        Ok(Cache::default())
    }

    async fn handle(
        &self,
        _: ActorRef<Request>,
        request: Request,
        cache: &mut Cache,
    ) -> Result<(), ActorProcessingErr> {
        match request {
            Request::Calc(keys, reply) => {
                cache.calc(keys);
                reply.send(())?;
            }
            Request::Sum(reply) => reply.send(cache.sum())?,
        }
        Ok(())
    }
}

/// A task each.
pub fn run(given: &Given, size: CacheSizes) -> anyhow::Result<Measured> {
    let runtime = runtime::start_with_time(given.workers()?)?;
    Ok(runtime::run(runtime, 2 * size.tasks, 1, move |finish| async move {
        let (cache, _) = Actor::spawn(None, Serving, ()).await.expect("the cache starts");
        let tasks: Vec<_> =
            (0..size.tasks).map(|_| tokio::spawn(task(cache.clone(), size))).collect();
        for task in tasks {
            task.await.expect("no task panics");
        }
        finish.part(call!(cache, Request::Sum).expect("the cache answers"));
    }))
}

async fn task(cache: ActorRef<Request>, size: CacheSizes) {
    let calc = |reply| Request::Calc(size.keys, reply);
    call!(cache, calc).expect("the cache answers");
    tokio::time::sleep(size.sleep).await;
    call!(cache, calc).expect("the cache answers");
}
