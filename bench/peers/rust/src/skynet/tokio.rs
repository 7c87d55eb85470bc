//! A task and a mailbox a node.

use coact_bench_workloads::work::tree::{WIDTH, children};
use coact_bench_workloads::{Given, Measured};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use super::common::Size;
use crate::runtime;

/// A mailbox each. A node that stays waits on it for ever, one that ends does so after its
/// children.
pub fn run(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let spawn = if size.ends { end } else { stay };
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.nodes(), 1, move |finish| async move {
        let (root, mut total) = unbounded_channel();
        spawn(root, 0, size.leaves);
        finish.part(total.recv().await.expect("the tree reports"));
    }))
}

/// The answer is what a task returns.
pub fn join(given: &Given, size: Size) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, size.nodes(), 1, move |finish| async move {
        finish.part(sum(0, size.leaves).await.expect("no task panics"));
    }))
}

fn sum(first: u64, leaves: u64) -> JoinHandle<u64> {
    tokio::spawn(async move {
        if leaves == 1 {
            return first;
        }
        let tasks: Vec<_> =
            children(first, leaves).map(|start| sum(start, leaves / WIDTH)).collect();
        let mut total = 0;
        for task in tasks {
            total += task.await.expect("no task panics");
        }
        total
    })
}

/// A task cannot name its own type, so the recursion goes through this plain function.
fn stay(above: UnboundedSender<u64>, first: u64, leaves: u64) {
    tokio::spawn(async move {
        let (mailbox, mut reports) = unbounded_channel();
        let mut sum = 0;
        if leaves == 1 {
            sum = first;
        } else {
            for start in children(first, leaves) {
                stay(mailbox.clone(), start, leaves / WIDTH);
            }
            for _ in 0..WIDTH {
                sum += reports.recv().await.expect("this task holds a sender");
            }
        }
        above.send(sum).expect("the parent stays");
        reports.recv().await;
        drop(mailbox);
    });
}

fn end(above: UnboundedSender<u64>, first: u64, leaves: u64) {
    tokio::spawn(async move {
        let (mailbox, mut reports) = unbounded_channel();
        let mut sum = 0;
        if leaves == 1 {
            sum = first;
        } else {
            for start in children(first, leaves) {
                end(mailbox.clone(), start, leaves / WIDTH);
            }
            drop(mailbox);
            // The channel is closed when the last child has ended.
            while let Some(report) = reports.recv().await {
                sum += report;
            }
        }
        above.send(sum).expect("the parent waits");
    });
}
