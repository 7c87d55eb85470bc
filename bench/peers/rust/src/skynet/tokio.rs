//! A task and a mailbox a node.

use coact_bench::harness::Measured;
use coact_bench::harness::program::Given;
use coact_bench::workloads::micro::skynet::{WIDTH, children, nodes};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::runtime;

/// Each task waits on its mailbox for ever.
pub fn staying(given: &Given, leaves: u64) -> anyhow::Result<Measured> {
    run(given, leaves, stay)
}

/// Each task ends after those of its children.
pub fn ending(given: &Given, leaves: u64) -> anyhow::Result<Measured> {
    run(given, leaves, end)
}

/// How a node begins: where it reports, its first number, and how many leaves are below it.
type Spawn = fn(UnboundedSender<u64>, u64, u64);

fn run(given: &Given, leaves: u64, spawn: Spawn) -> anyhow::Result<Measured> {
    let runtime = runtime::start(given.workers()?)?;
    Ok(runtime::run(runtime, nodes(leaves), 1, move |finish| async move {
        let (root, mut total) = unbounded_channel();
        spawn(root, 0, leaves);
        finish.part(total.recv().await.expect("the tree reports"));
    }))
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
