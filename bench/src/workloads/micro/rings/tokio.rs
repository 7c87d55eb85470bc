//! A task and an unbounded channel a node.

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::Size;
use crate::harness::{Finish, Measured, Setup, Stopwatch};
use crate::workloads::runtime;

/// Spawns the nodes, and a task that lets the tokens go. The runtime's end ends the tasks.
pub fn run(setup: &Setup, size: Size) -> Measured {
    let runtime = runtime::tokio(setup);
    let finish = Finish::after(size.all_tokens());
    let stopwatch = Stopwatch::default();
    let mut all = Vec::new();
    for _ in 0..size.rings {
        let (senders, receivers): (Vec<_>, Vec<_>) =
            (0..size.nodes).map(|_| unbounded_channel()).unzip();
        for (receiver, next) in receivers.into_iter().zip(senders.iter().cycle().skip(1)) {
            runtime.spawn(node(receiver, next.clone(), size.hops_each, finish.clone()));
        }
        all.push(senders);
    }
    let started = stopwatch.clone();
    runtime.spawn(async move {
        started.start();
        for senders in all {
            for start in size.starts() {
                senders[(start + 1) % size.nodes].send(1).expect("the ring lives");
            }
        }
    });
    let (elapsed, hops) = stopwatch.until(&finish);
    Measured::new(elapsed, size.total_hops(), hops)
}

async fn node(
    mut tokens: UnboundedReceiver<u64>,
    next: UnboundedSender<u64>,
    hops: u64,
    finish: Finish,
) {
    while let Some(done) = tokens.recv().await {
        if done == hops {
            finish.part(done);
        } else if next.send(done + 1).is_err() {
            break;
        }
    }
}
