//! The cache belongs to a task.

use coact_bench_workloads::work::cache::{Cache, CacheSizes};
use coact_bench_workloads::{Given, Measured};
use tokio::sync::{mpsc, oneshot};

use crate::runtime;

enum Request {
    Calc(u64, oneshot::Sender<()>),
    Sum(oneshot::Sender<u64>),
}

async fn serve(mut requests: mpsc::UnboundedReceiver<Request>) {
    let mut cache = Cache::default();
    while let Some(request) = requests.recv().await {
        match request {
            Request::Calc(keys, reply) => {
                cache.calc(keys);
                reply.send(()).expect("the task waits");
            }
            Request::Sum(reply) => reply.send(cache.sum()).expect("the task waits"),
        }
    }
}

async fn ask<R>(
    cache: &mpsc::UnboundedSender<Request>,
    request: impl FnOnce(oneshot::Sender<R>) -> Request,
) -> R {
    let (reply, answer) = oneshot::channel();
    cache.send(request(reply)).expect("the cache lives");
    answer.await.expect("the cache answers")
}

/// A task each.
pub fn run(given: &Given, size: CacheSizes) -> anyhow::Result<Measured> {
    let runtime = runtime::start_with_time(given.workers()?)?;
    Ok(runtime::run(runtime, 2 * size.tasks, 1, move |finish| async move {
        let (cache, requests) = mpsc::unbounded_channel();
        tokio::spawn(serve(requests));
        let tasks: Vec<_> =
            (0..size.tasks).map(|_| tokio::spawn(task(cache.clone(), size))).collect();
        for task in tasks {
            task.await.expect("no task panics");
        }
        finish.part(ask(&cache, Request::Sum).await);
    }))
}

async fn task(cache: mpsc::UnboundedSender<Request>, size: CacheSizes) {
    ask(&cache, |reply| Request::Calc(size.keys, reply)).await;
    tokio::time::sleep(size.sleep).await;
    ask(&cache, |reply| Request::Calc(size.keys, reply)).await;
}
