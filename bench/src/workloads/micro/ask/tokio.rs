//! A request carries the sender of a oneshot channel.

use tokio::sync::{mpsc, oneshot};

use super::Server;
use crate::harness::{Finish, Measured, Setup, Stopwatch};
use crate::workloads::runtime;

/// Two tasks.
pub fn run(setup: &Setup, rounds: u64) -> Measured {
    let runtime = runtime::tokio(setup);
    let finish = Finish::after(1);
    let stopwatch = Stopwatch::default();
    let (requests, mut received) = mpsc::unbounded_channel::<oneshot::Sender<u64>>();
    runtime.spawn(async move {
        let mut server = Server::default();
        while let Some(reply) = received.recv().await {
            reply.send(server.answer()).expect("the client waits");
        }
    });
    let (started, finished) = (stopwatch.clone(), finish.clone());
    runtime.spawn(async move {
        started.start();
        let mut sum = 0;
        for _ in 0..rounds {
            let (reply, answer) = oneshot::channel();
            requests.send(reply).expect("the server lives");
            sum += answer.await.expect("the server answers");
        }
        finished.part(sum);
    });
    let (elapsed, sum) = stopwatch.until(&finish);
    Measured::new(elapsed, rounds, sum)
}
