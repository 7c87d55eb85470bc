//! A request carries the sender of a oneshot channel.

use coact_bench::harness::Measured;
use coact_bench::harness::program::Given;
use tokio::sync::{mpsc, oneshot};

use super::Server;
use crate::runtime;

type Request = oneshot::Sender<u64>;

async fn serve(mut requests: mpsc::UnboundedReceiver<Request>) {
    let mut server = Server::default();
    while let Some(reply) = requests.recv().await {
        reply.send(server.answer()).expect("the client waits");
    }
}

/// Two tasks.
pub fn run(given: &Given, rounds: u64) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, rounds, 1, move |finish| async move {
        let (requests, received) = mpsc::unbounded_channel();
        tokio::spawn(serve(received));
        let mut sum = 0;
        for _ in 0..rounds {
            let (reply, answer) = oneshot::channel();
            requests.send(reply).expect("the server lives");
            sum += answer.await.expect("the server answers");
        }
        finish.part(sum);
    }))
}

/// A plain thread and a task.
pub fn wait(given: &Given, rounds: u64) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    let start = std::time::Instant::now();
    let (requests, received) = mpsc::unbounded_channel();
    runtime.spawn(serve(received));
    let mut sum = 0;
    for _ in 0..rounds {
        let (reply, answer) = oneshot::channel();
        requests.send(reply)?;
        sum += answer.blocking_recv()?;
    }
    Ok(Measured::new(start.elapsed(), rounds, sum))
}
