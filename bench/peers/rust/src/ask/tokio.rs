//! A request carries the sender of a oneshot channel.

use coact_bench_workloads::{Given, Measured};
use tokio::sync::{mpsc, oneshot};

use super::common::{Server, Size};
use crate::runtime;

type Request = oneshot::Sender<u64>;

async fn serve(mut requests: mpsc::UnboundedReceiver<Request>) {
    let mut server = Server::default();
    while let Some(reply) = requests.recv().await {
        reply.send(server.answer()).expect("the client waits");
    }
}

/// Two tasks.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.rounds, 1, move |finish| async move {
        let (requests, received) = mpsc::unbounded_channel();
        tokio::spawn(serve(received));
        let mut tally = 0;
        for _ in 0..size.rounds {
            let (reply, answer) = oneshot::channel();
            requests.send(reply).expect("the server lives");
            let answer = answer.await.expect("the server answers");
            tally = (size.tally)(tally, answer);
        }
        finish.part(tally);
    }))
}

/// A plain thread and a task.
pub fn wait(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    let start = std::time::Instant::now();
    let (requests, received) = mpsc::unbounded_channel();
    runtime.spawn(serve(received));
    let mut tally = 0;
    for _ in 0..size.rounds {
        let (reply, answer) = oneshot::channel();
        requests.send(reply)?;
        let answer = answer.blocking_recv()?;
        tally = (size.tally)(tally, answer);
    }
    Ok(Measured::new(start.elapsed(), size.rounds, tally))
}
