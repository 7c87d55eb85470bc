//! A task and an unbounded channel a node.

use coact_bench_workloads::Given;
use coact_bench_workloads::work::rings::RingSizes;
use coact_bench_workloads::{Finish, Measured};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::runtime;

/// One task spawns the nodes and lets the tokens go.
pub fn run(given: &Given, size: RingSizes) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.total_hops(), size.all_tokens(), move |finish| async move {
        for _ in 0..size.rings {
            let (senders, receivers): (Vec<_>, Vec<_>) =
                (0..size.nodes).map(|_| unbounded_channel()).unzip();
            for (receiver, next) in receivers.into_iter().zip(senders.iter().cycle().skip(1)) {
                tokio::spawn(node(receiver, next.clone(), size.hops_each, finish.clone()));
            }
            for start in size.starts() {
                senders[start].send(1).expect("the ring lives");
            }
        }
    }))
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
        } else {
            next.send(done + 1).expect("the ring lives");
        }
    }
}
